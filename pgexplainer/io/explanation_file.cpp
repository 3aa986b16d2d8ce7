#include "pgexplainer/io/explanation_file.h"

#include <array>
#include <string_view>
#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/io/explanation_csv.h"
#include "pgexplainer/io/explanation_json.h"
#include "pgexplainer/io/explanation_npz.h"

namespace pgexplainer {
namespace {

struct Format {
  std::string_view suffix;
  ExplanationEncoder encode;
  std::unique_ptr<ExplanationWriter> (*new_writer)(const std::filesystem::path&, WriterJob);
  std::vector<Explanation> (*read)(const std::filesystem::path&);
};

std::unique_ptr<ExplanationWriter> new_json_writer(const std::filesystem::path& path,
                                                   WriterJob job) {
  return std::make_unique<ExplanationWriter>(path, explanation_json, std::move(job));
}

constexpr std::array kFormats{
    Format{".jsonl", explanation_json, new_json_writer, read_explanations_json},
    Format{".json", explanation_json, new_json_writer, read_explanations_json},
    Format{".csv", explanation_csv, new_explanation_csv_writer, read_explanations_csv},
    Format{".npz", explanation_record, new_explanation_npz_writer, read_explanations_npz},
};

const Format& format_of(const std::filesystem::path& path) {
  for (const Format& format : kFormats)
    if (path.extension() == format.suffix) return format;
  throw_bad_input("{}: which format? Explanations are NAME.jsonl (or .json), NAME.csv or NAME.npz",
                  path.string());
}

}  // namespace

std::unique_ptr<ExplanationWriter> new_explanation_writer(const std::filesystem::path& path,
                                                          WriterJob job) {
  return format_of(path).new_writer(path, std::move(job));
}

ExplanationEncoder explanation_encoder(const std::filesystem::path& path) {
  return format_of(path).encode;
}

std::vector<Explanation> read_explanations(const std::filesystem::path& path) {
  return format_of(path).read(path);
}

}  // namespace pgexplainer
