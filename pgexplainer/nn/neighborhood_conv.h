// GraphConv (Morris et al., AAAI 2019) and SAGEConv (Hamilton et al., NeurIPS 2017): the aggregated
// neighbourhood and the node itself, each with a linear map:
//
//   out_i = W_1 aggr_e(c_e x_j) + b + W_2 x_i,  then optionally divided by its l2 norm (SAGEConv's
//   normalize).
//
// They differ in names (lin_rel/lin_root against lin_l/lin_r), in the default aggregation, and in
// whether edge weights are read (GraphConv only). SAGEConv(aggr sum, no root, normalize) is the
// layer of the paper's released code.
#pragma once

#include <string>

#include "pgexplainer/nn/aggregate.h"
#include "pgexplainer/nn/linear.h"

namespace pgexplainer {

struct GraphConvOptions {
  std::int64_t out_channels = 0;
  std::string aggr = "add";
  bool bias = true;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("out_channels", &GraphConvOptions::out_channels, Bounds{1, 65536}, "width of the output");
    field("aggr", &GraphConvOptions::aggr, Bounds{}, "add, mean or max");
    field("bias", &GraphConvOptions::bias, Bounds{}, "add a learned constant");
  }
};

struct SageConvOptions {
  std::int64_t out_channels = 0;
  std::string aggr = "mean";
  bool normalize = false;
  bool root_weight = true;
  bool bias = true;

  template <class Visitor>
  static void fields(Visitor&& field) {
    field("out_channels", &SageConvOptions::out_channels, Bounds{1, 65536}, "width of the output");
    field("aggr", &SageConvOptions::aggr, Bounds{}, "add, mean or max");
    field("normalize", &SageConvOptions::normalize, Bounds{}, "divide each row by its l2 norm");
    field("root_weight", &SageConvOptions::root_weight, Bounds{},
          "add a linear map of the node itself");
    field("bias", &SageConvOptions::bias, Bounds{}, "add a learned constant");
  }
};

template <class T>
class NeighborhoodConv final : public Layer<T> {
 public:
  NeighborhoodConv(const GraphConvOptions& options, const std::string& name, Index in,
                   ParameterLayout& layout);
  NeighborhoodConv(const SageConvOptions& options, const std::string& name, Index in,
                   ParameterLayout& layout);

  [[nodiscard]] Index out_channels() const override { return neighbors_.weight.rows; }
  [[nodiscard]] bool passes_messages() const override { return true; }

  void forward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x, Matrix<T>& out,
               Saved<T>& saved) const override;
  void backward(const T* theta, const LayerContext<T>& context, const Matrix<T>& x,
                const Matrix<T>& out, const Matrix<T>& dout, Saved<T>& saved,
                const LayerGradients<T>& gradient) const override;

 private:
  [[nodiscard]] LayerContext<T> readable(LayerContext<T> context) const;

  Aggregation aggregation_;
  bool reads_edge_weight_;
  bool normalize_ = false;
  LinearSlots neighbors_;
  LinearSlots root_;
};

}  // namespace pgexplainer
