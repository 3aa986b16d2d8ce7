#include "pgexplainer/model/native_gnn.h"

#include <utility>

#include "pgexplainer/core/error.h"
#include "pgexplainer/core/index.h"
#include "pgexplainer/nn/activation.h"
#include "pgexplainer/nn/dropout.h"
#include "pgexplainer/nn/gcn_conv.h"
#include "pgexplainer/nn/layer_factory.h"
#include "pgexplainer/nn/pooling.h"
#include "pgexplainer/nn/strip.h"

namespace pgexplainer {
namespace {

/// The nodes whose rows a convolution reads for those of `nodes`: these, and who sends to them.
std::vector<NodeId> with_senders(const Adjacency& graph, std::span<const NodeId> nodes) {
  thread_local std::vector<std::uint8_t> read_by_node;
  read_by_node.assign(at(graph.num_nodes()), 0);
  std::uint8_t* is_read = read_by_node.data();  // a byte could lie anywhere, also in the vector
  for (const NodeId i : nodes) {
    is_read[i] = 1;
    const EdgeId begin = graph.in_ptr[at(i)], end = graph.in_ptr[at(i) + 1];
    for (const NodeId source : graph.in_source.subspan(at(begin), at(end - begin)))
      is_read[source] = 1;
  }
  std::vector<NodeId> result(read_by_node.size());
  NodeId* next = result.data();
  for (NodeId i = 0; i < graph.num_nodes(); ++i) {  // without a branch: it could not be foreseen
    *next = i;
    next += is_read[i];
  }
  result.resize(static_cast<std::size_t>(next - result.data()));
  return result;
}

}  // namespace

template <class T>
NativeGnn<T>::NativeGnn(ModelSpec spec, const std::string& where, std::uint64_t seed)
    : spec_(std::move(spec)) {
  std::uint32_t position = 0;
  const auto add = [&](const nlohmann::json& description, const std::string& place, Index width,
                       Layers& layers) {
    std::unique_ptr<Layer<T>> made = make_layer<T>(description, place, width, position++, layout_);
    // A ReLU may join the layer before it: one pass over memory less.
    const auto* activation = dynamic_cast<const Activation<T>*>(made.get());
    if (activation && activation->kind() == ActivationKind::relu && !layers.empty() &&
        layers.back()->take_relu())
      return width;
    layers.push_back(std::move(made));
    const Layer<T>& layer = *layers.back();
    num_convolutions_ += layer.passes_messages() ? 1 : 0;
    num_attention_layers_ += layer.attention({}) ? 1 : 0;
    depends_on_phase_ = depends_on_phase_ ||
                        layer.mixes_all_rows(true) != layer.mixes_all_rows(false) ||
                        dynamic_cast<const Dropout<T>*>(&layer) != nullptr;
    if (const auto* gcn = dynamic_cast<const GcnConv<T>*>(&layer); gcn && gcn->normalizes())
      reads_gcn_norm_[gcn->adds_self_loops() ? 1 : 0] = true;
    if (const Index edges = layer.edge_channels(); edges > 0) {
      if (edge_channels_ > 0 && edge_channels_ != edges)
        throw_bad_input("{}: this layer reads {} edge features, another one {}", place, edges,
                        edge_channels_);
      edge_channels_ = edges;
    }
    return layer.out_channels();
  };
  Index width = spec_.in_channels;
  Index concatenated = 0;
  for (std::size_t b = 0; b < spec_.blocks.size(); ++b) {
    Layers& layers = blocks_.emplace_back();
    for (std::size_t l = 0; l < spec_.blocks[b].size(); ++l)
      width =
          add(spec_.blocks[b][l], fmt::format("{}: blocks[{}][{}]", where, b, l), width, layers);
    block_width_.push_back(width);
    concatenated += width;
  }
  if (spec_.jumping_knowledge == JumpingKnowledge::cat) width = concatenated;
  for (const Index block : block_width_)
    if (spec_.jumping_knowledge == JumpingKnowledge::max && block != width)
      throw_bad_input("{}: jumping_knowledge max needs blocks of one width, these are {} wide",
                      where, fmt::join(block_width_, ", "));
  if (spec_.task == Task::graph) width *= static_cast<Index>(spec_.readout.size());
  for (std::size_t l = 0; l < spec_.classifier.size(); ++l) {
    width =
        add(spec_.classifier[l], fmt::format("{}: classifier[{}]", where, l), width, classifier_);
    if (classifier_.back()->passes_messages())
      throw_bad_input("{}: classifier[{}] passes messages; put it into a block", where, l);
  }
  if (width != spec_.num_classes)
    throw_bad_input("{}: the last layer is {} wide, but there are {} classes", where, width,
                    spec_.num_classes);
  theta_ = initial_values<T>(layout_, seed);
}

template <class T>
bool NativeGnn<T>::mixes_all_rows(bool training) const {
  for (const Layers& layers : blocks_)
    for (const auto& layer : layers)
      if (layer->mixes_all_rows(training)) return true;
  for (const auto& layer : classifier_)
    if (layer->mixes_all_rows(training)) return true;
  return false;
}

template <class T>
LayerContext<T> NativeGnn<T>::context_of(const GnnInput<T>& input, std::span<const T> edge_mask,
                                         const Phase& phase) {
  LayerContext<T> context;
  context.graph = input.graph;
  context.num_rows = input.graph.num_nodes();
  context.edge_weight = input.edge_weight;
  context.edge_mask = edge_mask;
  context.edge_attr = input.edge_attr;
  context.graph_ptr = input.graph_ptr;
  context.gcn_norm = input.gcn_norm;
  context.pool = input.pool;
  context.training = phase.training;
  context.dropout_seed = phase.dropout_seed;
  context.dropout_key = phase.dropout_key;
  return context;
}

/// The blocks side by side or, for the classifier, their largest entries; as many rows as the last
/// of them has.
template <class T>
void NativeGnn<T>::combine(std::span<const Matrix<T>* const> blocks, Embedding kind,
                           Matrix<T>& z) const {
  const bool for_classifier = kind == Embedding::classifier_input;
  if (for_classifier && spec_.jumping_knowledge == JumpingKnowledge::max) {
    z = *blocks.back();
    for (const Matrix<T>* block : blocks) z = z.cwiseMax(block->topRows(z.rows()));
    return;
  }
  Index width = 0;
  for (const Index w : block_width_) width += w;
  z.resize(blocks.back()->rows(), width);
  Index column = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (for_classifier)
      copy_columns(*blocks[b], z.rows(), z, column);
    else
      copy_shortened(*blocks[b], z, column);
    column += block_width_[b];
  }
}

/// dblock += what dL/dz gives to a block; of equal largest entries the first block's counts.
template <class T>
void NativeGnn<T>::combine_backward(const Workspace& workspace, std::size_t block,
                                    Matrix<T>& dblock) const {
  const Matrix<T>&z = workspace.z, &dz = workspace.dz;
  if (spec_.jumping_knowledge == JumpingKnowledge::cat) {
    Index column = 0;
    for (std::size_t b = 0; b < block; ++b) column += block_width_[b];
    return add_columns(dz, column, dblock);
  }
  const auto first_with = [&](Index i, Index j) {
    std::size_t b = 0;
    while (workspace.blocks[b].back().out(i, j) != z(i, j)) ++b;
    return b;
  };
  for (Index i = 0; i < z.rows(); ++i)
    for (Index j = 0; j < z.cols(); ++j)
      if (workspace.blocks[block].back().out(i, j) == z(i, j) && first_with(i, j) == block)
        dblock(i, j) += dz(i, j);
}

template <class T>
auto NativeGnn<T>::last_layer(Embedding kind) const -> Place {
  if (kind == Embedding::last_convolution)
    for (std::size_t b = blocks_.size(); b-- > 0;)
      for (std::size_t l = blocks_[b].size(); l-- > 0;)
        if (blocks_[b][l]->passes_messages()) return {b, l};
  return {blocks_.size() - 1, blocks_.back().size() - 1};
}

template <class T>
const Matrix<T>& NativeGnn<T>::encode(const GnnInput<T>& input, std::span<const T> edge_mask,
                                      const Phase& phase, Embedding kind,
                                      Workspace& workspace) const {
  LayerContext<T>& context = workspace.context;
  context = context_of(input, edge_mask, phase);

  // After the k-th of L convolutions only nodes within L - k hops still matter.
  int convolutions_left = num_convolutions_;
  const Place last = last_layer(kind);
  const Matrix<T>* x = input.x;
  workspace.blocks.resize(blocks_.size());
  for (std::size_t b = 0; b <= last.block; ++b) {
    workspace.blocks[b].resize(blocks_[b].size());
    const std::size_t end = b == last.block ? last.layer + 1 : blocks_[b].size();
    for (std::size_t l = 0; l < end; ++l) {
      if (blocks_[b][l]->passes_messages()) {
        --convolutions_left;
        if (!input.nodes_within.empty())
          context.num_rows = input.nodes_within[at(convolutions_left)];
      }
      auto& step = workspace.blocks[b][l];
      blocks_[b][l]->forward(theta_.data(), context, *x, step.out, step.saved);
      x = &step.out;
    }
  }
  if (!combines_blocks(kind)) return *x;
  std::vector<const Matrix<T>*> outputs;
  for (const auto& steps : workspace.blocks) outputs.push_back(&steps.back().out);
  combine(outputs, kind, workspace.z);
  return workspace.z;
}

template <class T>
const Matrix<T>& NativeGnn<T>::forward(const GnnInput<T>& input, std::span<const T> edge_mask,
                                       const Phase& phase, Workspace& workspace) const {
  const Matrix<T>* x = &encode(input, edge_mask, phase, Embedding::classifier_input, workspace);
  const LayerContext<T>& context = workspace.context;
  if (spec_.task == Task::graph) {
    const std::array<NodeId, 2> whole{0, context.num_rows};
    const std::span<const NodeId> graph_ptr = input.graph_ptr.empty() ? whole : input.graph_ptr;
    workspace.pooled.resize(static_cast<Index>(graph_ptr.size()) - 1,
                            x->cols() * static_cast<Index>(spec_.readout.size()));
    Matrix<T> one(workspace.pooled.rows(), x->cols());
    for (std::size_t k = 0; k < spec_.readout.size(); ++k) {
      pool<T>(spec_.readout[k], graph_ptr, *x, one);
      workspace.pooled.middleCols(static_cast<Index>(k) * x->cols(), x->cols()) = one;
    }
    x = &workspace.pooled;
  }
  workspace.classifier.resize(classifier_.size());
  for (std::size_t l = 0; l < classifier_.size(); ++l) {
    auto& step = workspace.classifier[l];
    classifier_[l]->forward(theta_.data(), context, *x, step.out, step.saved);
    x = &step.out;
  }
  return *x;
}

template <class T>
void NativeGnn<T>::backward_layers(const Layers& layers, const Matrix<T>& input, Steps& steps,
                                   const Matrix<T>& dout, const LayerContext<T>& context,
                                   const LayerGradients<T>& gradient, Matrix<T>* dinput) const {
  const Matrix<T>* d = &dout;
  for (std::size_t l = layers.size(); l-- > 0;) {
    LayerGradients<T> wanted = gradient;
    wanted.x = l > 0 ? &steps[l].dx : dinput;
    LayerContext<T> rows = context;
    rows.num_rows = static_cast<NodeId>(steps[l].out.rows());
    layers[l]->backward(theta_.data(), rows, l > 0 ? steps[l - 1].out : input, steps[l].out, *d,
                        steps[l].saved, wanted);
    d = wanted.x;
  }
}

template <class T>
void NativeGnn<T>::backward(const GnnInput<T>& input, const Matrix<T>& dlogits,
                            Workspace& workspace, const LayerGradients<T>& gradient) const {
  const LayerContext<T>& context = workspace.context;
  const Matrix<T>& z = combines_blocks() ? workspace.z : workspace.blocks.back().back().out;
  const Matrix<T>& classified = spec_.task == Task::graph ? workspace.pooled : z;
  Matrix<T>& dclassified = spec_.task == Task::graph ? workspace.dpooled : workspace.dz;
  if (classifier_.empty())
    dclassified = dlogits;
  else
    backward_layers(classifier_, classified, workspace.classifier, dlogits, context, gradient,
                    &dclassified);
  if (spec_.task == Task::graph) {
    const std::array<NodeId, 2> whole{0, static_cast<NodeId>(z.rows())};
    const std::span<const NodeId> graph_ptr = input.graph_ptr.empty() ? whole : input.graph_ptr;
    workspace.dz.setZero(z.rows(), z.cols());
    for (std::size_t k = 0; k < spec_.readout.size(); ++k) {
      const Index column = static_cast<Index>(k) * z.cols();
      const Matrix<T> out = workspace.pooled.middleCols(column, z.cols());
      const Matrix<T> d = workspace.dpooled.middleCols(column, z.cols());
      pool_backward<T>(spec_.readout[k], graph_ptr, z, out, d, workspace.dz);
    }
  }

  Matrix<T>& dblock = workspace.dblock;
  if (combines_blocks())
    dblock.setZero(z.rows(), block_width_.back());
  else
    dblock = workspace.dz;
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    if (combines_blocks()) combine_backward(workspace, b, dblock);
    const Matrix<T>& block_input = b > 0 ? workspace.blocks[b - 1].back().out : *input.x;
    Matrix<T>* dinput = b > 0 ? &workspace.blocks[b].front().dx : gradient.x;
    backward_layers(blocks_[b], block_input, workspace.blocks[b], dblock, context, gradient,
                    dinput);
    if (b > 0) dblock.swap(*dinput);
  }
}

template <class T>
void NativeGnn<T>::update_buffers(const Workspace& workspace) {
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (std::size_t l = 0; l < blocks_[b].size(); ++l)
      blocks_[b][l]->update_buffers(workspace.blocks[b][l].saved, theta_.data());
  for (std::size_t l = 0; l < classifier_.size(); ++l)
    classifier_[l]->update_buffers(workspace.classifier[l].saved, theta_.data());
}

template <class T>
std::vector<std::vector<NodeId>> NativeGnn<T>::rows_needed(const Adjacency& graph,
                                                           std::span<const NodeId> nodes) const {
  std::vector<std::vector<NodeId>> needed(at(num_convolutions_));
  if (nodes.empty()) return needed;
  std::vector<const Layer<T>*> convolutions;
  for (const Layers& layers : blocks_)
    for (const auto& layer : layers)
      if (layer->passes_messages()) convolutions.push_back(layer.get());
  needed.back().assign(nodes.begin(), nodes.end());
  for (std::size_t c = needed.size() - 1; c > 0 && convolutions[c]->picks_rows(); --c) {
    EdgeId received = 0;
    for (const NodeId i : needed[c]) received += graph.in_ptr[at(i) + 1] - graph.in_ptr[at(i)];
    if (2 * received > graph.num_edges()) break;  // the search would cost what it saves
    needed[c - 1] = with_senders(graph, needed[c]);
  }
  return needed;
}

template <class T>
Matrix<T> NativeGnn<T>::embed(const GnnInput<T>& input, Embedding kind,
                              std::span<const NodeId> nodes) const {
  LayerContext<T> context = context_of(input, {}, {});
  const std::vector<std::vector<NodeId>> needed = rows_needed(context.graph, nodes);
  std::size_t convolution = 0;
  std::vector<Matrix<T>> outputs;   // of the blocks that are still needed
  outputs.reserve(blocks_.size());  // x points into it
  Matrix<T> result;                 // of the last layer
  std::span<const NodeId> rows;     // whose rows these are; empty = of all nodes
  const auto spread = [&] {         // rows that no convolution reads stay unset
    if (rows.empty()) return;
    Matrix<T> all(context.num_rows, result.cols());
    for_each_strip<T>(all.cols(), [&]<class S>(Index c) {
      for (std::size_t r = 0; r < rows.size(); ++r)
        S::load(result.data() + static_cast<Index>(r) * all.cols() + c)
            .store(all.data() + rows[r] * all.cols() + c);
    });
    result = std::move(all);
    rows = {};
  };
  const Matrix<T>* x = input.x;
  for (const Layers& layers : blocks_) {
    for (const auto& layer : layers) {
      const bool passes_messages = layer->passes_messages();
      if (passes_messages) {
        spread();
        if (++convolution == needed.size() || layer->picks_rows()) rows = needed[convolution - 1];
        context.rows = layer->picks_rows() ? rows : std::span<const NodeId>();
      }
      // No layer after the last convolution reads the rows of other nodes.
      const bool is_last_reader = passes_messages && convolution == needed.size();
      Saved<T> saved;
      if (layer->works_in_place() && x == &result) {
        layer->forward(theta_.data(), context, result, result, saved);
      } else {
        Matrix<T> out;
        layer->forward(theta_.data(), context, *x, out, saved);
        result = std::move(out);
      }
      x = &result;
      if (is_last_reader && !rows.empty()) {
        if (!layer->picks_rows()) result = result(rows, Eigen::all).eval();
        for (Matrix<T>& output : outputs) output = output(rows, Eigen::all).eval();
      }
      if (is_last_reader && kind == Embedding::last_convolution) return result;
    }
    if (!combines_blocks(kind)) continue;
    if (convolution < needed.size()) spread();
    outputs.push_back(std::exchange(result, Matrix<T>()));
    x = &outputs.back();
  }
  if (!combines_blocks(kind)) return result;
  std::vector<const Matrix<T>*> all;
  all.reserve(outputs.size());
  for (const Matrix<T>& output : outputs) all.push_back(&output);
  Matrix<T> z;
  combine(all, kind, z);
  return z;
}

template <class T>
Matrix<T> NativeGnn<T>::attention(const Workspace& workspace, EdgeId num_edges) const {
  Matrix<T> result = Matrix<T>::Zero(num_attention_layers_, num_edges);
  Index row = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (std::size_t l = 0; l < blocks_[b].size(); ++l) {
      const Saved<T>& saved = workspace.blocks[b][l].saved;
      const Matrix<T>* of_slot = blocks_[b][l]->attention(saved);
      if (!of_slot) continue;
      for (Index slot = 0; slot < of_slot->rows(); ++slot) {
        const EdgeId edge = saved.slots.edge[at(slot)];
        if (edge == kNoEdge) continue;
        T sum(0);
        for (Index head = 0; head < of_slot->cols(); ++head) sum += (*of_slot)(slot, head);
        result(row, edge) = sum / static_cast<T>(of_slot->cols());
      }
      ++row;
    }
  return result;
}

namespace {

void check_input(const NativeGnn<float>& model, const GnnInput<float>& input,
                 std::span<const float> edge_mask) {
  if (input.x == nullptr || input.x->rows() != input.graph.num_nodes())
    throw_bad_input("the features have {} rows for a graph of {} nodes",
                    input.x ? input.x->rows() : 0, input.graph.num_nodes());
  if (input.x->cols() != model.spec().in_channels)
    throw_bad_input("the features are {} wide, but the model was built for {}", input.x->cols(),
                    model.spec().in_channels);
  if (!edge_mask.empty() && static_cast<EdgeId>(edge_mask.size()) < input.graph.num_edges())
    throw_bad_input("the edge mask has {} entries for {} edges", edge_mask.size(),
                    input.graph.num_edges());
  if (model.edge_channels() > 0 &&
      (input.edge_attr == nullptr || input.edge_attr->cols() != model.edge_channels()))
    throw_bad_input("the model reads {} edge features, the data has {}", model.edge_channels(),
                    input.edge_attr ? input.edge_attr->cols() : 0);
  if (!input.nodes_within.empty() && at(model.num_convolutions()) >= input.nodes_within.size())
    throw_bad_input("the model reaches {} hops, the computation graph only {}",
                    model.num_convolutions(), input.nodes_within.size() - 1);
}

class NativeRun final : public GnnRun {
 public:
  explicit NativeRun(std::shared_ptr<const NativeGnn<float>> model) : model_(std::move(model)) {}

  const Matrix<float>& forward(const GnnInput<float>& input,
                               std::span<const float> edge_mask) override {
    check_input(*model_, input, edge_mask);
    input_ = input;
    return model_->forward(input_, edge_mask, {}, workspace_);
  }
  void backward(const Matrix<float>& dlogits, std::span<float> dmask, Matrix<float>* dx) override {
    LayerGradients<float> gradient;
    gradient.x = dx;
    gradient.edge_mask = dmask;
    model_->backward(input_, dlogits, workspace_, gradient);
  }
  const Matrix<float>& embed(const GnnInput<float>& input, Embedding kind) override {
    check_input(*model_, input, {});
    return model_->encode(input, {}, {}, kind, workspace_);
  }

 private:
  std::shared_ptr<const NativeGnn<float>> model_;
  NativeGnn<float>::Workspace workspace_;
  GnnInput<float> input_;
};

class NativeAsGnn final : public Gnn {
 public:
  explicit NativeAsGnn(std::shared_ptr<const NativeGnn<float>> model) : model_(std::move(model)) {}

  [[nodiscard]] Task task() const override { return model_->spec().task; }
  [[nodiscard]] Index num_features() const override { return model_->spec().in_channels; }
  [[nodiscard]] Index num_classes() const override { return model_->spec().num_classes; }
  [[nodiscard]] int num_hops() const override {
    return model_->mixes_all_rows(false) ? kWholeGraph : model_->num_convolutions();
  }
  [[nodiscard]] std::array<bool, 2> reads_gcn_norm() const override {
    return model_->reads_gcn_norm();
  }
  [[nodiscard]] Matrix<float> embed(const GnnInput<float>& input, Embedding kind) const override {
    check_input(*model_, input, {});
    return model_->embed(input, kind);
  }
  [[nodiscard]] Matrix<float> embed_rows(const GnnInput<float>& input, Embedding kind,
                                         std::span<const NodeId> nodes) const override {
    if (nodes.empty() || model_->mixes_all_rows(false) || model_->num_convolutions() == 0)
      return Gnn::embed_rows(input, kind, nodes);
    check_input(*model_, input, {});
    return model_->embed(input, kind, nodes);
  }
  [[nodiscard]] Matrix<float> attention(const GnnInput<float>& input) const override {
    if (model_->num_attention_layers() == 0) return {};
    check_input(*model_, input, {});
    GnnInput<float> every_row = input;
    every_row.nodes_within = {};
    NativeGnn<float>::Workspace workspace;
    model_->forward(every_row, {}, {}, workspace);
    return model_->attention(workspace, input.graph.num_edges());
  }
  [[nodiscard]] int num_attention_layers() const override { return model_->num_attention_layers(); }
  [[nodiscard]] std::unique_ptr<GnnRun> new_run() const override {
    return std::make_unique<NativeRun>(model_);
  }

 private:
  std::shared_ptr<const NativeGnn<float>> model_;
};

}  // namespace

std::unique_ptr<Gnn> make_gnn(std::shared_ptr<const NativeGnn<float>> model) {
  return std::make_unique<NativeAsGnn>(std::move(model));
}

template class NativeGnn<float>;
template class NativeGnn<double>;

}  // namespace pgexplainer
