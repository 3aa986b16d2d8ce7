// Work over the members of a population, cut into pieces by the length of the list alone: whoever
// computes a piece, what the pieces give is added in their order, so that sums have the same bits
// on any number of threads and ranks.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "pgexplainer/core/index.h"
#include "pgexplainer/explain/edge_scorer.h"
#include "pgexplainer/explain/population.h"
#include "pgexplainer/nn/strip.h"
#include "pgexplainer/parallel/workers.h"

namespace pgexplainer {

struct Pieces {
  /// At least so many members in each, for they share nodes.
  explicit Pieces(std::size_t list_length, std::size_t members = 3)
      : length(list_length),
        chunk(std::max((length + kMost - 1) / kMost, members)),
        count((length + chunk - 1) / chunk) {}

  static constexpr std::size_t kMost = 64;  // so many can work at once
  std::size_t length, chunk, count;

  [[nodiscard]] std::size_t begin(std::size_t piece) const {
    return std::min(length, piece * chunk);
  }
  [[nodiscard]] std::size_t end(std::size_t piece) const { return begin(piece + 1); }
};

/// One thread's memory. The members of a piece share nodes; each is projected once.
struct PieceWorker {
  std::unique_ptr<GnnRun> run;
  EdgeScorer<float>::Workspace scorer;
  std::vector<NodeId> piece_row;    ///< of each row of the population; kNoNode outside the piece
  std::vector<NodeId> rows;         ///< the rows of the population that the piece has
  std::vector<NodeId> member_rows;  ///< in the piece, of the nodes of all its members in turn
  Matrix<float> z, projections, dprojections;  ///< of each row of the piece

  void gather(const Matrix<float>& population_z, std::span<const Member* const> members) {
    piece_row.resize(at(population_z.rows()), kNoNode);
    rows.clear();
    member_rows.clear();
    for (const Member* member : members)
      for (const NodeId row : member->rows) {
        NodeId& mine = piece_row[at(row)];
        if (mine == kNoNode) {
          mine = static_cast<NodeId>(rows.size());
          rows.push_back(row);
        }
        member_rows.push_back(mine);
      }
    for (const NodeId row : rows) piece_row[at(row)] = kNoNode;
    gather_rows<float>(population_z, rows, z);
  }
};

/// Projects the nodes of each piece of this rank, with the first layer's transposed `weight`, then
/// calls start(piece), body(piece, place, member, its edges, worker) for its members in turn, place
/// being that in the list, and after the last one finish(piece, worker).
template <class Worker, class Start, class Body, class Finish>
void run_pieces(const Workers& ranks, const Population& population,
                std::span<const std::size_t> list, const Pieces& pieces,
                const EdgeScorer<float>& scorer, const Matrix<float>& weight,
                std::vector<Worker>& workers, Start&& start, Body&& body, Finish&& finish) {
  ranks.run(pieces.count, [&](std::size_t piece, int thread) {
    Worker& worker = workers[at(thread)];
    std::vector<const Member*> members;
    for (std::size_t i = pieces.begin(piece); i < pieces.end(piece); ++i)
      members.push_back(&population.members[list[i]]);
    worker.gather(population.z, members);
    scorer.project(weight, worker.z, worker.projections);
    worker.dprojections.setZero(worker.projections.rows(), worker.projections.cols());
    std::span<const NodeId> rows = worker.member_rows;
    start(piece);
    for (std::size_t k = 0; k < members.size(); ++k) {
      const InstanceGraph& graph = members[k]->graph;
      const EdgeScorer<float>::Edges edges{graph.source, graph.target, graph.targets,
                                           rows.first(members[k]->rows.size())};
      body(piece, pieces.begin(piece) + k, *members[k], edges, worker);
      rows = rows.subspan(members[k]->rows.size());
    }
    finish(piece, worker);
  });
}

/// sum = the parts of all pieces, which stand one after the other, added in their order. Each
/// thread adds some of the entries, if they are worth the waking of a thread.
inline void add_pieces(ThreadPool& pool, std::span<const float> parts, std::size_t pieces,
                       std::span<float> sum) {
  constexpr std::size_t kAdditions = 1 << 17;
  const std::size_t width = sum.size();
  const std::size_t block = std::max<std::size_t>(1, kAdditions / pieces);
  const std::size_t blocks = (width + block - 1) / block;
  pool.run(static_cast<std::int64_t>(blocks), [&](std::int64_t b, int) {
    const std::size_t begin = at(b) * block, end = std::min(width, begin + block);
    for (std::size_t k = begin; k < end; ++k) sum[k] = 0.0F;
    for (std::size_t piece = 0; piece < pieces; ++piece)
      for (std::size_t k = begin; k < end; ++k) sum[k] += parts[piece * width + k];
  });
}

}  // namespace pgexplainer
