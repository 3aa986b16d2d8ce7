#include "pgexplainer/report/graph_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"

namespace pgexplainer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGoldenAngle = 2.399963229728653;

struct Point {
  double x = 0, y = 0;
  Point operator+(Point o) const { return {x + o.x, y + o.y}; }
  Point operator-(Point o) const { return {x - o.x, y - o.y}; }
  Point operator*(double s) const { return {x * s, y * s}; }
};
using Points = std::vector<Point>;

double norm(Point p) { return std::sqrt(p.x * p.x + p.y * p.y); }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }

// One connected component of at least two nodes: simple, undirected, nodes 0 .. size-1.
struct Component {
  std::vector<NodeId> node;                     // local to global
  std::vector<std::vector<NodeId>> neighbor;    // sorted
  std::vector<std::pair<NodeId, NodeId>> edge;  // first < second

  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(node.size()); }
  [[nodiscard]] double degree(NodeId i) const { return double(neighbor[at(i)].size()); }
  // Edges between two busy nodes are drawn longer, or hubs would sit on each other.
  [[nodiscard]] double length(NodeId i, NodeId j) const {
    return std::max(1.0, std::sqrt(std::min(degree(i), degree(j)) / 4.0));
  }
};

std::vector<double> distances_from(const Component& c, NodeId start) {
  std::vector<double> distance(c.node.size(), kInfinity);
  using Entry = std::pair<double, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  distance[at(start)] = 0;
  open.emplace(0.0, start);
  while (!open.empty()) {
    const auto [d, i] = open.top();
    open.pop();
    if (d > distance[at(i)]) continue;
    for (const NodeId j : c.neighbor[at(i)]) {
      const double next = d + c.length(i, j);
      if (next >= distance[at(j)]) continue;
      distance[at(j)] = next;
      open.emplace(next, j);
    }
  }
  return distance;
}

// Each pivot is as far as can be from those before it; `distance` has one row per pivot.
struct Pivots {
  std::vector<NodeId> node;
  std::vector<std::vector<double>> distance;
};

Pivots choose_pivots(const Component& c, NodeId count) {
  Pivots pivots;
  std::vector<double> nearest(c.node.size(), kInfinity);
  NodeId next = 0;
  for (NodeId p = 0; p < count; ++p) {
    pivots.node.push_back(next);
    pivots.distance.push_back(distances_from(c, next));
    for (std::size_t i = 0; i < nearest.size(); ++i)
      nearest[i] = std::min(nearest[i], pivots.distance.back()[i]);
    next = static_cast<NodeId>(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
  }
  return pivots;
}

// The sum over terms of weight * (|p_i - p_other| - distance)^2 is the stress.
struct Term {
  NodeId other;
  double distance, weight;
};
using Terms = std::vector<std::vector<Term>>;

// A pivot stands for the nodes nearest to it, as far as they are on the same side for i. With every
// node a pivot this is the full stress with weights 1 / d^2.
Terms stress_terms(const Component& c, const Pivots& pivots) {
  const std::size_t n = c.node.size(), num_pivots = pivots.node.size();
  std::vector<std::vector<double>> region(num_pivots);  // distances of its nodes, sorted
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t best = 0;
    for (std::size_t p = 1; p < num_pivots; ++p)
      if (pivots.distance[p][i] < pivots.distance[best][i]) best = p;
    region[best].push_back(pivots.distance[best][i]);
  }
  for (auto& r : region) std::sort(r.begin(), r.end());
  Terms terms(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& neighbors = c.neighbor[i];
    for (std::size_t p = 0; p < num_pivots; ++p) {
      const double d = pivots.distance[p][i];
      if (d == 0 || std::binary_search(neighbors.begin(), neighbors.end(), pivots.node[p]))
        continue;
      const auto count =
          std::upper_bound(region[p].begin(), region[p].end(), d / 2) - region[p].begin();
      terms[i].push_back({pivots.node[p], d, double(count) / (d * d)});
    }
    for (const NodeId j : neighbors) {
      const double d = c.length(static_cast<NodeId>(i), j);
      terms[i].push_back({j, d, 1 / (d * d)});
    }
  }
  return terms;
}

void minimise_stress(const Terms& terms, std::int64_t num_sweeps, Points& p) {
  for (std::int64_t sweep = 0; sweep < num_sweeps; ++sweep) {
    double largest_step = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      Point sum;
      double weight = 0;
      for (const Term& term : terms[i]) {
        const Point other = p[at(term.other)];
        const Point away = p[i] - other;
        const double length = norm(away);
        const double pull = length > 1e-9 ? term.distance / length : 0.0;
        sum = sum + (other + away * pull) * term.weight;
        weight += term.weight;
      }
      const Point next = sum * (1 / weight);
      largest_step = std::max(largest_step, norm(next - p[i]));
      p[i] = next;
    }
    if (largest_step < 2e-3) break;
  }
}

double stress(const Terms& terms, const Points& p) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (const Term& term : terms[i]) {
      const double error = norm(p[i] - p[at(term.other)]) - term.distance;
      sum += term.weight * error * error;
    }
  return sum;
}

// Equal points cannot be told apart by their distances; the sunflower makes them different.
void add_sunflower(double size, Points& p) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double radius = size * std::sqrt((double(i) + 0.5) / double(p.size()));
    const double angle = kGoldenAngle * double(i);
    p[i] = p[i] + Point{radius * std::cos(angle), radius * std::sin(angle)};
  }
}

// Pivot MDS (Brandes, Pich, 2006): the two largest directions of the double-centred squared
// distances, by power iteration.
Points multidimensional_scaling(const Pivots& pivots) {
  const std::size_t k = pivots.node.size(), n = pivots.distance.front().size();
  std::vector<double> row_mean(k), column_mean(n);
  double mean = 0;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t i = 0; i < n; ++i) {
      const double d2 = pivots.distance[a][i] * pivots.distance[a][i];
      row_mean[a] += d2 / double(n);
      column_mean[i] += d2 / double(k);
      mean += d2 / double(n * k);
    }
  const auto centred = [&](std::size_t a, std::size_t i) {
    const double d = pivots.distance[a][i];
    return -0.5 * (d * d - row_mean[a] - column_mean[i] + mean);
  };
  std::vector<double> product(k * k);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b < k; ++b) product[a * k + b] += centred(a, i) * centred(b, i);

  std::vector<std::vector<double>> axes;
  Points p(n);
  for (int axis = 0; axis < 2; ++axis) {
    std::vector<double> v(k), next(k);
    for (std::size_t a = 0; a < k; ++a) v[a] = std::cos(kGoldenAngle * double(a) + axis);
    for (int round = 0; round < 100; ++round) {
      for (const auto& other : axes) {
        const double along = std::inner_product(v.begin(), v.end(), other.begin(), 0.0);
        for (std::size_t a = 0; a < k; ++a) v[a] -= along * other[a];
      }
      const double length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
      if (!(length > 1e-200)) break;
      for (double& value : v) value /= length;
      if (round == 99) break;
      for (std::size_t a = 0; a < k; ++a)
        next[a] =
            std::inner_product(v.begin(), v.end(), product.begin() + std::ptrdiff_t(a * k), 0.0);
      std::swap(v, next);
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t a = 0; a < k; ++a) (axis == 0 ? p[i].x : p[i].y) += centred(a, i) * v[a];
    axes.push_back(std::move(v));
  }
  return p;
}

// Scales a start so that its distances fit those wanted best.
void fit_scale(const Terms& terms, Points& p) {
  double wanted = 0, found = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (const Term& term : terms[i]) {
      const double length = norm(p[i] - p[at(term.other)]);
      wanted += term.weight * term.distance * length;
      found += term.weight * length * length;
    }
  if (!(found > 1e-300)) return;
  for (Point& point : p) point = point * (wanted / found);
}

// The spanning tree of shortest paths around `root`: every subtree owns an angle that follows its
// number of leaves, so a tree starts without a crossing.
Points radial_tree(const Component& c, NodeId root) {
  const std::size_t n = c.node.size();
  std::vector<NodeId> parent(n, kNoNode), order{root};
  std::vector<std::vector<NodeId>> child(n);
  parent[at(root)] = root;
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const NodeId j : c.neighbor[at(order[next])])
      if (parent[at(j)] == kNoNode) {
        parent[at(j)] = order[next];
        child[at(order[next])].push_back(j);
        order.push_back(j);
      }
  std::vector<double> leaves(n, 0);
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    leaves[at(*i)] = std::max(leaves[at(*i)], 1.0);
    if (*i != root) leaves[at(parent[at(*i)])] += leaves[at(*i)];
  }
  std::vector<double> begin(n, 0), radius(n, 0);
  Points p(n);
  for (const NodeId i : order) {
    const double angle =
        2 * std::numbers::pi * (begin[at(i)] + leaves[at(i)] / 2) / leaves[at(root)];
    p[at(i)] = {radius[at(i)] * std::cos(angle), radius[at(i)] * std::sin(angle)};
    double next = begin[at(i)];
    for (const NodeId j : child[at(i)]) {
      begin[at(j)] = next;
      radius[at(j)] = radius[at(i)] + 1;
      next += leaves[at(j)];
    }
  }
  return p;
}

bool cross_each_other(Point a, Point b, Point c, Point d) {
  return cross(b - a, c - a) * cross(b - a, d - a) < 0 &&
         cross(d - c, a - c) * cross(d - c, b - c) < 0;
}

// What disturbs a reader along one edge: crossings, and nodes under it that are not its ends.
double disturbances_of_edge(const Component& c, const Points& p, std::pair<NodeId, NodeId> edge) {
  const auto [i, j] = edge;
  const Point from = p[at(i)], to = p[at(j)], along = to - from;
  double count = 0;
  for (const auto& [k, l] : c.edge)
    if (k != i && k != j && l != i && l != j && cross_each_other(from, to, p[at(k)], p[at(l)]))
      count += 1;
  for (NodeId k = 0; k < c.size(); ++k) {
    if (k == i || k == j) continue;
    const Point node = p[at(k)] - from;
    const double share =
        std::clamp(dot(node, along) / std::max(dot(along, along), 1e-12), 0.0, 1.0);
    if (norm(node - along * share) < 0.15) count += 1;
  }
  return count;
}

double disturbances(const Component& c, const Points& p) {
  double count = 0;
  for (const auto& edge : c.edge) count += disturbances_of_edge(c, p, edge);
  return count;
}

// Exchanges two nodes of few edges, at most two hops apart, where that disturbs less: a motif that
// stress left twisted unfolds.
bool exchange_nodes(const Component& c, Points& p) {
  constexpr std::size_t kFewEdges = 4;
  const auto around = [&](NodeId u, NodeId v) {
    double count = 0;
    for (const NodeId end : {u, v})
      for (const NodeId other : c.neighbor[at(end)])
        count += disturbances_of_edge(c, p, {end, other});
    return count;
  };
  bool changed = false;
  for (NodeId u = 0; u < c.size(); ++u) {
    if (c.neighbor[at(u)].size() > kFewEdges) continue;
    std::vector<NodeId> candidates;
    for (const NodeId near : c.neighbor[at(u)]) {
      candidates.push_back(near);
      if (c.neighbor[at(near)].size() > kFewEdges) continue;  // a hub: its neighbours are many
      candidates.insert(candidates.end(), c.neighbor[at(near)].begin(), c.neighbor[at(near)].end());
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (const NodeId v : candidates) {
      if (v <= u || c.neighbor[at(v)].size() > kFewEdges) continue;
      const double before = around(u, v);
      if (before == 0) continue;
      std::swap(p[at(u)], p[at(v)]);
      if (around(u, v) < before)
        changed = true;
      else
        std::swap(p[at(u)], p[at(v)]);
    }
  }
  return changed;
}

// Calls visit(i, j) for every pair nearer than `reach`, in an order that depends on the points
// alone.
template <class Visit>
void for_close_pairs(const Points& p, double reach, Visit&& visit) {
  const auto cell = [&](double value) {
    return static_cast<std::int64_t>(std::floor(value / reach));
  };
  const auto key = [](std::int64_t x, std::int64_t y) { return x * 1'000'003 + y; };
  std::unordered_map<std::int64_t, std::vector<std::size_t>> cells;
  cells.reserve(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::int64_t dx = -1; dx <= 1; ++dx)
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        const auto found = cells.find(key(cell(p[i].x) + dx, cell(p[i].y) + dy));
        if (found == cells.end()) continue;
        for (const std::size_t j : found->second)
          if (norm(p[i] - p[j]) < reach) visit(i, j);
      }
    cells[key(cell(p[i].x), cell(p[i].y))].push_back(i);
  }
}

// Moves nodes so that none are nearer than `gap`; what a bounded number of passes leaves is
// settled by a larger scale.
void push_apart(double gap, Points& p) {
  Points step(p.size());
  double nearest = kInfinity;
  for (int pass = 0; pass < 300; ++pass) {
    nearest = kInfinity;
    std::fill(step.begin(), step.end(), Point{});
    for_close_pairs(p, gap, [&](std::size_t i, std::size_t j) {
      Point away = p[i] - p[j];
      double length = norm(away);
      nearest = std::min(nearest, length);
      if (length < 1e-6 * gap) {
        const double angle = kGoldenAngle * double(i + j);
        away = {std::cos(angle), std::sin(angle)};
        length = 0;
      } else {
        away = away * (1 / length);
      }
      const double move = 0.5 * (gap * 1.02 - length);
      step[i] = step[i] + away * move;
      step[j] = step[j] - away * move;
    });
    if (nearest == kInfinity) return;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double length = norm(step[i]);
      p[i] = p[i] + step[i] * (length > gap ? gap / length : 1.0);
    }
  }
  nearest = gap;
  for_close_pairs(p, gap, [&](std::size_t i, std::size_t j) {
    nearest = std::min(nearest, norm(p[i] - p[j]));
  });
  const double scale = gap / std::max(nearest, 1e-3 * gap);
  for (Point& point : p) point = point * scale;
}

struct Box {
  double left = kInfinity, top = kInfinity, right = -kInfinity, bottom = -kInfinity;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
};

Box box_of(const Points& p) {
  Box box;
  for (const Point& point : p) {
    box.left = std::min(box.left, point.x);
    box.right = std::max(box.right, point.x);
    box.top = std::min(box.top, point.y);
    box.bottom = std::max(box.bottom, point.y);
  }
  return box;
}

Points rotated(const Points& p, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  Points result;
  result.reserve(p.size());
  for (const Point& point : p)
    result.push_back({c * point.x - s * point.y, s * point.x + c * point.y});
  return result;
}

// Turned so that it needs little room and its long side follows the long side of the paper.
Points turned(const Points& p, bool wide) {
  constexpr int kSteps = 90;
  double best = kInfinity;
  int best_step = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Box box = box_of(rotated(p, std::numbers::pi * step / kSteps));
    if (wide != (box.width() >= box.height())) continue;
    const double area = (box.width() + 1) * (box.height() + 1);
    if (area < best * (1 - 1e-6)) {
      best = area;
      best_step = step;
    }
  }
  return rotated(p, std::numbers::pi * best_step / kSteps);
}

// In units of the smallest distance between two of its nodes.
Points layout_component(const Component& c, const LayoutOptions& options) {
  const NodeId n = c.size();
  const bool exact = n <= options.num_exact;
  const Pivots pivots = choose_pivots(
      c, exact ? n : static_cast<NodeId>(std::min<std::int64_t>(n, options.num_pivots)));
  const Terms terms = stress_terms(c, pivots);
  // A second round that cares less for what is far unfolds small motifs, which many far nodes
  // would squeeze.
  Terms local_terms = terms;
  for (auto& row : local_terms)
    for (Term& term : row) term.weight /= term.distance * term.distance;

  // Stress has many valleys; of several starts the one that reads best wins.
  struct Start {
    Points p;
    std::int64_t num_sweeps;
  };
  std::vector<Start> starts{{multidimensional_scaling(pivots), options.num_sweeps}};
  fit_scale(terms, starts.front().p);
  const Points scaled = starts.front().p;
  add_sunflower(0.05, starts.front().p);
  if (exact && c.edge.size() <= 1500) {
    std::vector<double> reach(c.node.size());
    for (std::size_t i = 0; i < pivots.node.size(); ++i)
      reach[at(pivots.node[i])] =
          *std::max_element(pivots.distance[i].begin(), pivots.distance[i].end());
    const auto centre = std::min_element(reach.begin(), reach.end()) - reach.begin();
    // A tree without a crossing may get one on the way to the least stress.
    const Points tree = radial_tree(c, static_cast<NodeId>(centre));
    for (const std::int64_t num_sweeps : {options.num_sweeps, std::int64_t{20}, std::int64_t{5}})
      starts.push_back({tree, std::min(num_sweeps, options.num_sweeps)});
    if (c.edge.size() + 1 == c.node.size()) starts.push_back({tree, 0});
    const int num_more = n <= 40 ? 8 : n <= 120 ? 3 : 0;
    for (int more = 1; more <= num_more; ++more) {
      starts.push_back({rotated(scaled, more), options.num_sweeps});
      add_sunflower(0.4 * more, starts.back().p);
    }
  }
  Points best;
  double fewest = kInfinity, least = kInfinity;
  for (auto& [p, num_sweeps] : starts) {
    minimise_stress(terms, num_sweeps, p);
    minimise_stress(local_terms, num_sweeps, p);
    const double count = starts.size() > 1 ? disturbances(c, p) : 0.0;
    const double energy = starts.size() > 1 ? stress(terms, p) : 0.0;
    if (count > fewest || (count == fewest && energy >= least * (1 - 1e-3))) continue;
    best = std::move(p);
    fewest = count;
    least = energy;
  }
  for (int round = 0; starts.size() > 1 && fewest > 0 && round < 4; ++round) {
    Points p = best;
    if (!exchange_nodes(c, p)) break;
    minimise_stress(local_terms, options.num_sweeps, p);
    const double count = disturbances(c, p);
    if (count >= fewest) break;
    best = std::move(p);
    fewest = count;
  }

  const Box box = box_of(best);
  const double room = std::max(box.width(), 1.0) * std::max(box.height(), 1.0) / n;
  const double gap = std::min(0.5, 0.6 * std::sqrt(room));
  push_apart(gap, best);
  for (Point& point : best) point = point * (1 / gap);
  return turned(best, options.aspect >= 1);
}

std::vector<Component> connected_components(NodeId num_nodes, std::span<const NodeId> source,
                                            std::span<const NodeId> target) {
  std::vector<std::vector<NodeId>> neighbor(at(num_nodes));
  for (std::size_t e = 0; e < source.size(); ++e) {
    if (source[e] == target[e]) continue;
    neighbor[at(source[e])].push_back(target[e]);
    neighbor[at(target[e])].push_back(source[e]);
  }
  std::vector<Component> components;
  std::vector<NodeId> local(at(num_nodes), kNoNode);
  for (NodeId first = 0; first < num_nodes; ++first) {
    if (local[at(first)] != kNoNode) continue;
    Component& c = components.emplace_back();
    c.node.push_back(first);
    local[at(first)] = 0;
    for (std::size_t next = 0; next < c.node.size(); ++next) {
      auto& row = neighbor[at(c.node[next])];
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      for (const NodeId j : row)
        if (local[at(j)] == kNoNode) {
          local[at(j)] = c.size();
          c.node.push_back(j);
        }
    }
    for (NodeId i = 0; i < c.size(); ++i) {
      auto& row = c.neighbor.emplace_back();
      for (const NodeId j : neighbor[at(c.node[at(i)])]) {
        row.push_back(local[at(j)]);
        if (i < local[at(j)]) c.edge.emplace_back(i, local[at(j)]);
      }
      std::sort(row.begin(), row.end());
    }
  }
  std::stable_sort(components.begin(), components.end(),
                   [](const Component& a, const Component& b) { return a.size() > b.size(); });
  return components;
}

// Centred rows of boxes no wider than `width`; returns the size of the whole and sets the corners.
Point pack_rows(const std::vector<Box>& boxes, double gap, double width, Points& corner) {
  std::vector<double> row_width;
  std::vector<std::size_t> row;
  double x = 0, y = 0, row_height = 0;
  corner.clear();
  for (const Box& box : boxes) {
    if (row_width.empty() || x + box.width() > width) {
      if (!row_width.empty()) y += row_height + gap;
      x = row_height = 0;
      row_width.push_back(0);
    }
    corner.push_back({x, y});
    row.push_back(row_width.size() - 1);
    row_width.back() = x + box.width();
    row_height = std::max(row_height, box.height());
    x += box.width() + gap;
  }
  const double widest =
      row_width.empty() ? 0.0 : *std::max_element(row_width.begin(), row_width.end());
  for (std::size_t i = 0; i < corner.size(); ++i) corner[i].x += (widest - row_width[row[i]]) / 2;
  return {widest, y + row_height};
}

}  // namespace

GraphLayout layout_graph(NodeId num_nodes, std::span<const NodeId> source,
                         std::span<const NodeId> target, const LayoutOptions& options) {
  check_option_fields(options);
  if (num_nodes < 0) throw_bad_input("the graph has {} nodes, expected 0 or more", num_nodes);
  if (source.size() != target.size())
    throw_bad_input("there are {} sources and {} targets of edges, expected as many", source.size(),
                    target.size());
  for (std::size_t e = 0; e < source.size(); ++e)
    for (const NodeId end : {source[e], target[e]})
      if (end < 0 || end >= num_nodes)
        throw_bad_input("edge {} ends at node {}, expected 0 to {}", e, end, num_nodes - 1);

  const std::vector<Component> components = connected_components(num_nodes, source, target);
  std::vector<Points> parts;
  std::vector<Box> boxes;
  for (const Component& c : components) {
    if (c.size() == 1) break;  // sorted by size: the rest is isolated nodes
    parts.push_back(layout_component(c, options));
    boxes.push_back(box_of(parts.back()));
  }
  const std::size_t num_isolated = components.size() - parts.size();

  // All in units of the node distance. Tries row widths until the whole fits the box best.
  constexpr double kGap = 3.0, kIsolatedStep = 2.0;
  double widest = 0, sum = 0;
  for (const Box& box : boxes) {
    widest = std::max(widest, box.width());
    sum += box.width() + kGap;
  }
  Points p(at(num_nodes)), corner, best_corner;
  Point best_size;
  std::size_t best_columns = 1;
  double best_scale = -1;
  // Isolated nodes alone: about as many rows as fit the box.
  const double grid_width =
      kIsolatedStep * (std::floor(std::sqrt(double(num_isolated) * options.aspect)) - 1);
  const double low = std::max(parts.empty() ? grid_width : widest, 1.0);
  const double high = std::max({sum, kIsolatedStep * double(num_isolated), low});
  constexpr int kWidths = 60;
  for (int k = 0; k <= kWidths; ++k) {
    const double width = low * std::pow(high / low, double(k) / kWidths) * (1 + 1e-9);
    Point size = pack_rows(boxes, kGap, width, corner);
    const double row_width = parts.empty() ? width : std::max(size.x, kIsolatedStep);
    const std::size_t columns = std::clamp<std::size_t>(std::size_t(row_width / kIsolatedStep) + 1,
                                                        1, std::max<std::size_t>(num_isolated, 1));
    if (num_isolated > 0) {
      const double rows = std::ceil(double(num_isolated) / double(columns));
      size.x = std::max(size.x, kIsolatedStep * double(columns - 1));
      size.y += (parts.empty() ? 0.0 : kGap) + kIsolatedStep * (rows - 1);
    }
    const double scale =
        std::min(options.aspect / std::max(size.x, 1.0), 1 / std::max(size.y, 1.0));
    if (scale <= best_scale) continue;
    best_scale = scale;
    best_size = size;
    best_corner = corner;
    best_columns = columns;
  }

  double isolated_top = 0, parts_width = 0;
  for (std::size_t part = 0; part < parts.size(); ++part)
    parts_width = std::max(parts_width, best_corner[part].x + boxes[part].width());
  const double indent = (best_size.x - parts_width) / 2;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const Point shift =
        best_corner[part] - Point{boxes[part].left, boxes[part].top} + Point{indent, 0};
    for (std::size_t i = 0; i < parts[part].size(); ++i)
      p[at(components[part].node[i])] = parts[part][i] + shift;
    isolated_top = std::max(isolated_top, best_corner[part].y + boxes[part].height() + kGap);
  }
  const double row_indent = (best_size.x - kIsolatedStep * double(best_columns - 1)) / 2;
  for (std::size_t i = 0; i < num_isolated; ++i) {
    const std::size_t row = i / best_columns, column = i % best_columns;
    p[at(components[parts.size() + i].node.front())] = {row_indent + kIsolatedStep * double(column),
                                                        isolated_top + kIsolatedStep * double(row)};
  }

  GraphLayout layout;
  layout.position.resize(num_nodes, 2);
  const Point offset{(options.aspect - best_size.x * best_scale) / 2,
                     (1 - best_size.y * best_scale) / 2};
  for (NodeId i = 0; i < num_nodes; ++i) {
    const Point at_box = p[at(i)] * best_scale + offset;
    layout.position(i, 0) = static_cast<float>(std::clamp(at_box.x, 0.0, options.aspect));
    layout.position(i, 1) = static_cast<float>(std::clamp(at_box.y, 0.0, 1.0));
  }
  // Rounding to float may bring nodes a little closer than the unit they were packed in.
  layout.node_distance =
      std::min(static_cast<float>(best_scale), smallest_distance(layout.position));
  return layout;
}

float smallest_distance(const Matrix<float>& position) {
  std::vector<Point> p;
  for (Index i = 0; i < position.rows(); ++i) p.push_back({position(i, 0), position(i, 1)});
  std::sort(p.begin(), p.end(), [](Point a, Point b) { return a.x < b.x; });
  double nearest = kInfinity;
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t j = i + 1; j < p.size() && p[j].x - p[i].x < nearest; ++j)
      nearest = std::min(nearest, norm(p[j] - p[i]));
  return static_cast<float>(nearest);
}

}  // namespace pgexplainer
