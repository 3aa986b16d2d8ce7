#include "pgexplainer/io/split_npz.h"

#include "pgexplainer/core/error.h"

namespace pgexplainer {
namespace {

const char* eval_name(const Dataset& dataset) {
  return dataset.task == Task::node ? "eval_nodes" : "eval_graphs";
}

}  // namespace

void read_split(const NpzArrays& arrays, Dataset& dataset) {
  const std::vector<std::string> masks{"train_mask", "val_mask", "test_mask"};
  std::string present, missing;
  for (const std::string& mask : masks) (arrays.contains(mask) ? present : missing) = mask;
  if (present.empty()) {
    split_80_10_10(dataset, 0);
  } else if (!missing.empty()) {
    throw_bad_input("{}: there is an array {} but no {}; give all three masks or none",
                    arrays.path().string(), present, missing);
  } else {
    dataset.train_mask = arrays.mask("train_mask");
    dataset.val_mask = arrays.mask("val_mask");
    dataset.test_mask = arrays.mask("test_mask");
  }
  if (arrays.contains(eval_name(dataset)))
    dataset.eval_instances = arrays.list<std::int64_t>(eval_name(dataset));
}

std::map<std::string, NpyArray> split_arrays(const Dataset& dataset) {
  std::map<std::string, NpyArray> arrays;
  arrays["train_mask"] = NpyArray::refer_mask(dataset.train_mask);
  arrays["val_mask"] = NpyArray::refer_mask(dataset.val_mask);
  arrays["test_mask"] = NpyArray::refer_mask(dataset.test_mask);
  if (!dataset.eval_instances.empty())
    arrays[eval_name(dataset)] = NpyArray::refer(dataset.eval_instances);
  return arrays;
}

}  // namespace pgexplainer
