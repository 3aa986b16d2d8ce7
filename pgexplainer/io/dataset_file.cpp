#include "pgexplainer/io/dataset_file.h"

#include <system_error>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/dataset_npz.h"
#include "pgexplainer/io/edge_list_csv.h"
#include "pgexplainer/io/tu_folder.h"

namespace pgexplainer {
namespace {

std::filesystem::path nodes_csv_beside(std::filesystem::path edges_csv) {
  return edges_csv.replace_extension(".nodes.csv");
}

}  // namespace

Dataset read_dataset(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw_bad_input("{}: no such file or folder", path.string());
  if (std::filesystem::is_directory(status)) return read_tu_folder(path);
  if (path.extension() == ".npz") return read_dataset_npz(path);
  if (path.string().ends_with(".nodes.csv"))
    throw_bad_input("{}: is the node file of an edge list; give the file of its edges",
                    path.string());
  if (path.extension() == ".csv") {
    const auto nodes_csv = nodes_csv_beside(path);
    return read_edge_list(
        path, std::filesystem::exists(nodes_csv, error) ? nodes_csv : std::filesystem::path{});
  }
  throw_bad_input("{}: is not a dataset: expected NAME.npz, NAME.csv or a TU folder",
                  path.string());
}

void write_dataset(const std::filesystem::path& path, const Dataset& dataset) {
  if (path.extension() == ".npz") return write_dataset_npz(path, dataset);
  if (path.extension() == ".csv") return write_edge_list(path, nodes_csv_beside(path), dataset);
  if (path.extension().empty()) return write_tu_folder(path, dataset);
  throw_bad_input(
      "{}: which format? Give NAME.npz, NAME.csv, or a name without an ending for a TU folder",
      path.string());
}

}  // namespace pgexplainer
