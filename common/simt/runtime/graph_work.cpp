#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "launch/kernel_registry.h"
#include "report/errors.h"
#include "runtime/graphs.h"

namespace simt::graphs {

using device::result;

namespace {

// The nodes so that each comes after those it waits for, otherwise as they were added. Empty for a graph
// with a cycle.
std::vector<const Node*> sorted(const CUgraph_st& graph) {
  std::vector<const Node*> order;
  std::set<const Node*> done;
  while (order.size() < graph.nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get())) continue;
      if (std::all_of(node->after.begin(), node->after.end(),
                      [&](const Node* other) { return done.contains(other); })) {
        order.push_back(node.get());
        done.insert(node.get());
      }
    }
    if (order.size() == before) return {};
  }
  return order;
}

}  // namespace

std::unique_ptr<Node> make_node(CUgraph_st* graph, cudaGraphNodeType type, std::vector<Node*> after,
                                std::function<cudaError_t()> work) {
  auto node = std::make_unique<Node>();
  node->graph = graph;
  node->type = type;
  node->after = std::move(after);
  node->work = std::move(work);
  return node;
}

thread_local Node* target = nullptr;

std::vector<CUgraphExec_st::Step> steps_of(const CUgraph_st& graph) {
  std::vector<CUgraphExec_st::Step> steps;
  for (const Node* node : sorted(graph)) steps.push_back({node, node->type, node->work});
  return steps;
}

cudaError_t run(const std::vector<CUgraphExec_st::Step>& steps) {
  for (const CUgraphExec_st::Step& step : steps) {
    if (!step.work) continue;
    if (const cudaError_t error = step.work()) return error;
  }
  return cudaSuccess;
}

cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                cudaGraphNodeType type, std::function<cudaError_t()> work) {
  if (!out || !graph || (count && !after)) return result(cudaErrorInvalidValue);
  std::vector<Node*> nodes(after, after + count);
  for (const Node* node : nodes) {
    if (!node || node->graph != graph) return result(cudaErrorInvalidValue);
  }
  *out = graph->nodes.emplace_back(make_node(graph, type, std::move(nodes), std::move(work))).get();
  return result(cudaSuccess);
}

// The launch with the arguments as they are now.
cudaError_t kernel_work(const cudaKernelNodeParams& params, std::function<cudaError_t()>& work) {
  if (!kernels::find(params.func).launch) return result(cudaErrorInvalidDeviceFunction);
  Node node;
  target = &node;
  Config config(params.gridDim, params.blockDim, params.sharedMemBytes, nullptr);
  config.to_node = true;
  kernels::launch(params.func, config, params.kernelParams);
  target = nullptr;
  work = std::move(node.work);
  return cudaSuccess;
}

std::function<cudaError_t()> copy_work(const cudaMemcpy3DParms& params) {
  return [params] { return cudaMemcpy3D(&params); };
}

std::function<cudaError_t()> set_work(const cudaMemsetParams& p) {
  return [p]() -> cudaError_t {
    if (p.elementSize == 1)
      return cudaMemset2D(p.dst, p.height > 1 ? p.pitch : p.width, static_cast<int>(p.value),
                          p.width, p.height);
    // Elements of 2 and 4 bytes: the first by hand, the others are copies.
    if (p.elementSize != 2 && p.elementSize != 4) return result(cudaErrorInvalidValue);
    for (size_t row = 0; row < p.height; ++row) {
      std::vector<char> line(p.width * p.elementSize);
      for (size_t i = 0; i < p.width; ++i)
        std::memcpy(&line[i * p.elementSize], &p.value, p.elementSize);
      if (const cudaError_t error = cudaMemcpy(static_cast<char*>(p.dst) + row * p.pitch,
                                               line.data(), line.size(), cudaMemcpyDefault)) {
        return error;
      }
    }
    return cudaSuccess;
  };
}

std::function<cudaError_t()> host_work(const cudaHostNodeParams& p) {
  return [p] {
    p.fn(p.userData);
    return cudaSuccess;
  };
}

// Is `node` among those that `from` wait for, directly or not?
bool reaches(const std::vector<Node*>& from, const Node* node) {
  std::vector<Node*> open = from;
  std::set<const Node*> seen;
  while (!open.empty()) {
    Node* next = open.back();
    open.pop_back();
    if (next == node) return true;
    if (seen.insert(next).second) open.insert(open.end(), next->after.begin(), next->after.end());
  }
  return false;
}

void note(cudaStream_t stream, cudaGraphNodeType type, std::function<cudaError_t()> work) {
  CUgraph_st* graph = stream->capture->graph;
  auto& node = graph->nodes.emplace_back(make_node(graph, type, stream->last, std::move(work)));
  stream->last = {node.get()};
}

}  // namespace simt::graphs
