// What all formats of explanations share: a writer that takes one explanation at a time, and the
// demands on an explanation that is written or was read.
#pragma once

#include <string>

#include "pgexplainer/explain/explanation.h"

namespace pgexplainer {

/// The file appears with commit(), complete, or not at all. Throws bad_input when the place cannot
/// be written (at once, not after hours of explaining) or an explanation is not valid, failed when
/// writing breaks off.
class ExplanationWriter {
 public:
  virtual ~ExplanationWriter() = default;
  virtual void write(const Explanation& explanation) = 0;
  virtual void commit() = 0;
};

/// "5", or "5-7" for a link.
std::string instance_text(const Instance& instance);

/// Throws, naming `where`, unless the lists of edges are equally long, every id is a number from 0
/// on, every number is finite, and all three predictions know the same classes (the last two may be
/// empty).
void check_explanation(const Explanation& explanation, const std::string& where);

/// For readers: as check_explanation, and an edge may occur once; then finds `reverse`, which no
/// format stores. The k-th of parallel edges, by id, pairs with the k-th of the reversed ones, as
/// in Graph.
void complete_explanation(Explanation& explanation, const std::string& where);

}  // namespace pgexplainer
