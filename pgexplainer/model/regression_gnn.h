// Networks that predict numbers, for explainers that ask which edges keep a class: the class
// "stays" is that the prediction y is still near the one with all edges, y_0.
#pragma once

#include <memory>

#include "pgexplainer/model/gnn.h"

namespace pgexplainer {

/// A network of two classes, 0 = stays and 1 = changes, on top of one whose outputs are numbers:
///
///   P(stays) = 1 / (1.01 + |y - y_0|^2 / scale^2), so .99 for all edges, about a half at distance
///   `scale`.
///
/// It falls off slowly, so that explainers learn from masks far from y_0, too. With all edges its
/// gradient vanishes: methods that look at that gradient (grad, gradient) have nothing to say.
/// Throws unless scale is positive and finite.
std::unique_ptr<Gnn> make_regression_gnn(std::shared_ptr<const Gnn> network, double scale);

}  // namespace pgexplainer
