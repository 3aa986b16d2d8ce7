#include "pgexplainer/explain/company.h"

#include <algorithm>
#include <memory>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/explainer.h"

namespace pgexplainer {

Company gather_company(const ExplainedModel& model, ThreadPool& pool) {
  constexpr std::int64_t kMost = 512;
  const std::int64_t all = model.dataset().num_graphs();
  const std::int64_t count = std::min(kMost, all);
  Company company;
  company.graphs.resize(at(count));
  std::vector<std::size_t> predicted(at(count));
  struct Worker {
    InstanceCutter cutter;
    std::unique_ptr<GnnRun> run;
  };
  std::vector<std::unique_ptr<Worker>> workers(at(pool.size()));
  pool.run(count, [&](std::int64_t i, int thread) {
    auto& own = workers[at(thread)];
    if (!own) own.reset(new Worker{model.new_cutter(), model.gnn().new_run()});
    own->cutter.cut({i * all / count}, company.graphs[at(i)]);
    predicted[at(i)] = at(predict(company.graphs[at(i)], *own->run, {}).predicted_class());
  });
  company.of_other_class.resize(at(model.gnn().num_classes()));
  for (std::size_t c = 0; c < company.of_other_class.size(); ++c)
    for (std::size_t i = 0; i < predicted.size(); ++i)
      if (predicted[i] != c) company.of_other_class[c].push_back(i);
  return company;
}

}  // namespace pgexplainer
