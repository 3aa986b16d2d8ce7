// Explainers: fitting, explaining, and keeping what can be used again.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/core/option_json.h"
#include "pgexplainer/explain/methods.h"
#include "pgexplainer/explain/pg_explainer.h"
#include "pgexplainer/io/explainer_file.h"
#include "pgexplainer/model/link_gnn.h"
#include "python/bindings/bindings.h"
#include "python/bindings/explained.h"
#include "python/bindings/progress.h"

namespace pgexplainer::python {
namespace {

using InstanceArray = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

/// One id per row, or the two ends of a link.
std::vector<Instance> parse_instances(const InstanceArray& ids) {
  std::vector<Instance> instances(static_cast<std::size_t>(ids.shape(0)));
  const bool links = ids.ndim() == 2;
  const std::int64_t* id = ids.data();
  for (Instance& instance : instances) {
    instance.id = *id++;
    if (links) instance.second = *id++;
  }
  return instances;
}

nlohmann::ordered_json report_of(const FitReport& report) {
  return {{"loss", report.loss},
          {"restarts", report.restarts},
          {"necessity", report.necessity},
          {"sharpened", report.sharpened},
          {"refine", report.refine},
          {"rival_lead", report.rival_lead ? nlohmann::ordered_json(*report.rival_lead)
                                           : nlohmann::ordered_json()},
          {"held_out", report.held_out},
          {"verdict", report.verdict ? to_json(*report.verdict) : nlohmann::ordered_json()},
          {"warnings", report.warnings}};
}

/// A method, and what it has prepared for the model and the data it explained last. Calls from
/// several Python threads take turns.
class ExplainerHandle {
 public:
  ExplainerHandle(std::string method, std::uint64_t seed, nlohmann::json options)
      : method_(std::move(method)),
        seed_(seed),
        options_(std::move(options)),
        explainer_(make_explainer(method_, seed, options_)) {}

  static std::unique_ptr<ExplainerHandle> load(const std::filesystem::path& path) {
    ExplainerFile file = read_explainer(path);
    const PGExplainer& loaded = *file.explainer;
    auto handle = std::make_unique<ExplainerHandle>("pgexplainer", loaded.seed(),
                                                    options_to_json(loaded.options()));
    handle->explainer_ = std::move(file.explainer);
    handle->report_ = std::move(file.fit);
    handle->fitted_ = true;
    return handle;
  }
  void save(const std::filesystem::path& path) const {
    write_explainer(path, pg_explainer(), report_);
  }

  /// Learns anew, whatever was learnt before; when it is interrupted, that stays.
  void fit(const Model& model, const std::shared_ptr<Dataset>& data, const InstanceArray& ids,
           const py::dict& cut, int threads, const py::object& callback) {
    const std::vector<Instance> instances = parse_instances(ids);
    const CutOptions cut_options = parse_cut(cut);
    auto [fresh, report] = Listener(callback).run([&](const Progress& progress) {
      auto explainer = new_explainer();
      const auto both = put_together(model, data, is_links(instances), cut_options);
      ThreadPool pool(model.threads(threads));
      if (const Support support = explainer->supports(both->explained); !support)
        throw_bad_input("{} cannot explain this model: {}", method_, support.reason);
      const FitReport fit = explainer->fit(both->explained, instances, pool, progress);
      return std::pair(std::move(explainer), report_of(fit));
    });
    report["dataset"] = data->name;
    report["instances"] = instances.size();
    const py::gil_scoped_release unlocked;
    const std::lock_guard lock(mutex_);
    prepared_.reset();
    explainer_ = std::move(fresh);
    fitted_ = true;
    if (!report["loss"].empty()) report_ = std::move(report);  // else it does not learn
  }

  std::vector<std::shared_ptr<Explained>> explain(const Model& model,
                                                  const std::shared_ptr<Dataset>& data,
                                                  const InstanceArray& ids, const py::dict& cut,
                                                  const py::dict& selection, int threads,
                                                  const py::object& callback) {
    const std::vector<Instance> instances = parse_instances(ids);
    const CutOptions cut_options = parse_cut(cut);
    ExplainOptions options;
    if (!selection.empty())
      options.selection = options_from_json<SelectionOptions>(to_json(selection), "explain");
    return Listener(callback).run([&](const Progress& progress) {
      const std::lock_guard lock(mutex_);
      ThreadPool pool(instances.size() == 1 ? 1 : model.threads(threads));
      prepare(model, data, cut_options, instances, pool);
      return explain_in_blocks(instances, options, pool, progress);
    });
  }

  void set_refine(std::int64_t steps) {
    const py::gil_scoped_release unlocked;
    const std::lock_guard lock(mutex_);
    dynamic_cast<PGExplainer&>(*explainer_).set_refine(steps);
    options_["refine"] = steps;
  }

  /// All of a fitted explainer but what it has prepared.
  [[nodiscard]] py::tuple state() const {
    py::object learnt = py::none();
    if (const auto* explainer = dynamic_cast<const PGExplainer*>(explainer_.get());
        explainer && fitted_) {
      const PGExplainer::Fitted& fitted = explainer->fitted();
      learnt = py::make_tuple(fitted.embedding_width, fitted.num_targets, fitted.theta,
                              fitted.feature_logits, fitted.order, fitted.num_levels, fitted.refine,
                              fitted.rival_lead);
    }
    return py::make_tuple(method_, seed_, to_python(options_), fitted_, learnt, report());
  }
  static std::unique_ptr<ExplainerHandle> from_state(const py::tuple& state) {
    auto handle = std::make_unique<ExplainerHandle>(
        state[0].cast<std::string>(), state[1].cast<std::uint64_t>(), to_json(state[2]));
    handle->fitted_ = state[3].cast<bool>();
    handle->report_ = to_json(state[5]);
    if (state[4].is_none()) return handle;
    const py::tuple learnt = state[4];
    handle->explainer_ = std::make_unique<PGExplainer>(
        options_from_json<PGExplainerOptions>(handle->options_, "options"), handle->seed_,
        PGExplainer::Fitted{
            learnt[0].cast<Index>(), learnt[1].cast<int>(), learnt[2].cast<std::vector<float>>(),
            learnt[3].cast<std::vector<float>>(), learnt[4].cast<std::vector<float>>(),
            learnt[5].cast<Index>(), learnt[6].cast<std::int64_t>(),
            learnt[7].cast<std::optional<double>>()});
    return handle;
  }

  [[nodiscard]] bool fitted() const { return fitted_; }
  [[nodiscard]] py::object report() const { return to_python(report_); }
  [[nodiscard]] py::object options() const { return to_python(options_); }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] const std::string& method() const { return method_; }

 private:
  using Both = std::shared_ptr<const ModelOnData>;

  std::unique_ptr<Explainer> new_explainer() {
    const std::lock_guard lock(mutex_);
    return make_explainer(method_, seed_, options_);
  }
  static bool is_links(std::span<const Instance> instances) {
    return !instances.empty() && instances.front().is_link();
  }
  CutOptions parse_cut(const py::dict& cut) const {
    CutOptions options;
    if (!cut.empty()) options = options_from_json<CutOptions>(to_json(cut), method_);
    options.seed = seed_;
    return options;
  }
  static std::shared_ptr<const ModelOnData> put_together(const Model& model,
                                                         const std::shared_ptr<Dataset>& data,
                                                         bool links, const CutOptions& cut) {
    std::shared_ptr<const Gnn> gnn = model.gnn;
    if (links && model.in_python && gnn->num_hops() == Gnn::kWholeGraph)
      throw_bad_input(
          "links are explained by the part of the graph around them; give CallableModel num_hops=");
    if (links) gnn = make_link_gnn(std::move(gnn));
    return std::make_shared<const ModelOnData>(std::move(gnn), data, cut);
  }
  const PGExplainer& pg_explainer() const {
    const auto* explainer = dynamic_cast<const PGExplainer*>(explainer_.get());
    if (!explainer)
      throw_bad_input("{} learns nothing that could be saved; make it anew instead", method_);
    return *explainer;
  }

  /// What is prepared pays for a few instances (each with its own embeddings), for many, or for so
  /// many that they meet most nodes. One by one, few become so many, too.
  static constexpr std::size_t kMany = 32;

  void prepare(const Model& model, const std::shared_ptr<Dataset>& data, const CutOptions& cut,
               std::span<const Instance> instances, ThreadPool& pool) {
    const bool links = is_links(instances);
    const bool same = prepared_ && both_gnn_ == model.gnn && both_->data == data &&
                      links == both_links_ && cut.max_edges == both_cut_.max_edges &&
                      cut.num_neighbors == both_cut_.num_neighbors;
    if (!same) {
      prepared_.reset();
      asked_ = prepared_for_ = 0;
      both_ = put_together(model, data, links, cut);
      both_gnn_ = model.gnn;
      both_links_ = links;
      both_cut_ = cut;
    }
    asked_ += instances.size();
    const std::size_t most = std::max(kMany, at(data->num_instances()) / kMany + 1);
    const auto stage = [&](std::size_t count) { return count < kMany ? 0 : count < most ? 1 : 2; };
    std::size_t expected = asked_ >= most ? most : instances.size();
    if (stage(std::max(expected, prepared_for_)) == 0 && method_ == "pgexplainer" &&
        !std::all_of(instances.begin(), instances.end(),
                     [&](const Instance& one) { return both_->explained.is_local(one); }))
      expected = kMany;  // one that reaches far costs as much as all embeddings
    if (prepared_ && stage(expected) <= stage(prepared_for_)) return;
    std::vector<Instance> like_these(instances.begin(), instances.end());
    if (expected > instances.size()) like_these.resize(expected, instances.front());
    prepared_.reset();
    prepared_for_ = like_these.size();
    prepared_ =
        std::make_unique<PreparedExplainer>(both_->explained, *explainer_, like_these, pool);
  }

  std::vector<std::shared_ptr<Explained>> explain_in_blocks(std::span<const Instance> instances,
                                                            const ExplainOptions& options,
                                                            ThreadPool& pool,
                                                            const Progress& progress) {
    using Clock = std::chrono::steady_clock;
    const bool logits = method_ == "pgexplainer" && options_.value("score", "omega") == "omega";
    std::vector<std::shared_ptr<Explained>> all(instances.size());
    std::size_t block = 16;  // of a tenth of a second or so, so that Ctrl-C is heard
    for (std::size_t begin = 0; begin < instances.size();) {
      const std::size_t count = std::min(block, instances.size() - begin);
      const auto start = Clock::now();
      prepared_->explain(instances.subspan(begin, count), options, pool,
                         [&](std::size_t i, Explanation&& explanation) {
                           all[begin + i] = std::make_shared<Explained>(
                               Explained{std::move(explanation), both_, logits});
                         });
      begin += count;
      if (!report_progress(progress, static_cast<std::int64_t>(begin),
                           static_cast<std::int64_t>(instances.size()), method_) &&
          begin < instances.size())
        throw_failed("interrupted after {} of {} instances", begin, instances.size());
      const std::chrono::duration<double> seconds = Clock::now() - start;
      if (seconds.count() < 0.05) block *= 2;
      if (seconds.count() > 0.2 && block > 1) block /= 2;
    }
    return all;
  }

  std::string method_;
  std::uint64_t seed_;
  nlohmann::json options_;
  std::unique_ptr<Explainer> explainer_;
  bool fitted_ = false;
  nlohmann::ordered_json report_;

  std::mutex mutex_;
  Both both_;  // what prepared_ refers to
  std::shared_ptr<const Gnn> both_gnn_;
  bool both_links_ = false;
  CutOptions both_cut_;
  std::size_t asked_ = 0;         // instances since then
  std::size_t prepared_for_ = 0;  // instances
  std::unique_ptr<PreparedExplainer> prepared_;
};

/// As the command line does: a preset, then what is given.
nlohmann::json resolve_options(const std::string& method, const std::string& preset_name,
                               const nlohmann::json& given) {
  const std::string where = fmt::format("options of method {}", method);
  if (method != "pgexplainer") {
    if (!preset_name.empty()) throw_bad_input("{}: only pgexplainer has presets", where);
    make_explainer(method, 0, given);
    return given;
  }
  options_from_json<PGExplainerOptions>(given, where);
  const bool paper = given.contains("objective") && given["objective"] == "paper";
  nlohmann::json options = options_to_json(preset(!preset_name.empty() ? preset_name
                                                  : paper              ? "paper"
                                                                       : "default"));
  options.update(given);
  check_options(options_from_json<PGExplainerOptions>(options, where));
  return options;
}

}  // namespace

void bind_explain(py::module_& module) {
  py::class_<ExplainerHandle>(module, "Explainer")
      .def(py::init([](std::string method, std::uint64_t seed, const std::string& preset_name,
                       const py::dict& options) {
        nlohmann::json resolved = resolve_options(method, preset_name, to_json(options));
        return std::make_unique<ExplainerHandle>(std::move(method), seed, std::move(resolved));
      }))
      .def_static("load", ExplainerHandle::load)
      .def("save", &ExplainerHandle::save)
      .def(py::pickle([](const ExplainerHandle& self) { return self.state(); },
                      [](const py::tuple& state) { return ExplainerHandle::from_state(state); }))
      .def("set_refine", &ExplainerHandle::set_refine)
      .def("fit", &ExplainerHandle::fit)
      .def("explain", &ExplainerHandle::explain)
      .def_property_readonly("fitted", &ExplainerHandle::fitted)
      .def_property_readonly("report", &ExplainerHandle::report)
      .def_property_readonly("options", &ExplainerHandle::options)
      .def_property_readonly("seed", &ExplainerHandle::seed)
      .def_property_readonly("method", &ExplainerHandle::method);
  module.def("method_names", method_names);
  module.def("preset_names", preset_names);
  module.def("method_fields",
             [](const std::string& method) { return to_python(method_option_fields(method)); });
  module.def("selection_fields",
             [] { return to_python(option_fields_to_json<SelectionOptions>()); });
  module.def("cut_fields", [] { return to_python(option_fields_to_json<CutOptions>()); });
}

}  // namespace pgexplainer::python
