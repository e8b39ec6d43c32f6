#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "launch/kernel_registry.h"
#include "report/errors.h"
#include "runtime/graphs.h"

namespace simt::graphs {

using device::result;

thread_local Work* target = nullptr;

std::vector<CUgraphExec_st::Step> steps_of(const CUgraph_st& graph) {
  std::vector<CUgraphExec_st::Step> steps;
  std::map<const Node*, size_t> done;
  while (steps.size() < graph.nodes.size()) {
    const size_t before = steps.size();
    for (const auto& node : graph.nodes) {
      const auto is_done = [&](const Node* other) { return done.contains(other); };
      if (is_done(node.get()) || !std::all_of(node->after.begin(), node->after.end(), is_done))
        continue;
      done[node.get()] = steps.size();
      steps.push_back({node->work, node.get()});
      for (const Node* other : node->after) steps.back().after.push_back(done.at(other));
    }
    if (steps.size() == before) return {};
  }
  return steps;
}

cudaError_t run(const std::vector<CUgraphExec_st::Step>& steps, cudaStream_t stream,
                std::vector<uint32_t>* queues) {
  bool is_chain = true;
  for (size_t i = 1; i < steps.size(); ++i) {
    const std::vector<size_t>& after = steps[i].after;
    is_chain &= std::find(after.begin(), after.end(), i - 1) != after.end();
  }
  std::vector<uint32_t> none;
  stream_order::GraphLaunch launch(stream, queues ? *queues : none,
                                   queues && !is_chain ? steps.size() : 0);
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto here = launch.step(i, steps[i].after);
    if (!steps[i].work.run) continue;
    if (const cudaError_t error = steps[i].work.run()) return error;
  }
  return cudaSuccess;
}

cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                Work work) {
  if (work.wrong) return result(work.wrong);
  if (!out || !is_graph(graph) || (count && !after)) return result(cudaErrorInvalidValue);
  std::vector<Node*> nodes(after, after + count);
  for (const Node* node : nodes) {
    if (!node || node->graph != graph) return result(cudaErrorInvalidValue);
  }
  graph->nodes.push_back(std::make_unique<Node>(Node{graph, std::move(nodes), std::move(work)}));
  *out = graph->nodes.back().get();
  return result(cudaSuccess);
}

Work kernel_work(const cudaKernelNodeParams* params) {
  if (!params) return {.wrong = cudaErrorInvalidValue};
  if (!kernels::find(params->func).launch) return {.wrong = cudaErrorInvalidDeviceFunction};
  Work work{.type = cudaGraphNodeTypeKernel};
  target = &work;
  Config config(params->gridDim, params->blockDim, params->sharedMemBytes, nullptr);
  config.to_node = true;
  kernels::launch(params->func, config, params->kernelParams);
  target = nullptr;
  return work;
}

Work copy_work(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return {cudaGraphNodeTypeMemcpy, [=] { return cudaMemcpy(to, from, size, kind); }};
}
Work set_work(const cudaMemsetParams* params) {
  if (!params) return {.wrong = cudaErrorInvalidValue};
  const auto set = [p = *params]() -> cudaError_t {
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
  return {cudaGraphNodeTypeMemset, set};
}

Work host_work(const cudaHostNodeParams* params) {
  if (!params || !params->fn) return {.wrong = cudaErrorInvalidValue};
  return {cudaGraphNodeTypeHost, [p = *params] {
            p.fn(p.userData);
            return cudaSuccess;
          }};
}

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

void note(cudaStream_t handle, Work work) {
  CUstream_st* const stream = ordinary(handle);
  CUgraph_st* graph = stream->capture->graph;
  graph->nodes.push_back(std::make_unique<Node>(Node{graph, stream->last, std::move(work)}));
  stream->last = {graph->nodes.back().get()};
}

}  // namespace simt::graphs
