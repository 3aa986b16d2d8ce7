#include "pgexplainer/model/embedding.h"

#include <utility>

#include "pgexplainer/core/error.h"

namespace pgexplainer {

Embedding parse_embedding(std::string_view what, std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Embedding>, 4> kWords{
      {{"all-layers", Embedding::all_layers},
       {"classifier-input", Embedding::classifier_input},
       {"last-layer", Embedding::last_layer},
       {"last-convolution", Embedding::last_convolution}}};
  for (const auto& [known, kind] : kWords)
    if (word == known) return kind;
  throw_bad_input(
      "{} is '{}', expected one of all-layers, classifier-input, last-layer, last-convolution",
      what, word);
}

}  // namespace pgexplainer
