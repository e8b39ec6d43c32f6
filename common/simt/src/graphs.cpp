// Graphs: work that is noted first and done later, once or many times.
#include <simt/runtime.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "device.h"
#include "kernels.h"
#include "streams.h"

using simt::device::result;
using simt::graphs::Capture;
using Node = CUgraphNode_st;

namespace simt::graphs {

namespace {

std::unique_ptr<Node> make_node(CUgraph_st* graph, cudaGraphNodeType type, std::vector<Node*> after,
                                std::function<cudaError_t()> work) {
  auto node = std::make_unique<Node>();
  node->graph = graph;
  node->type = type;
  node->after = std::move(after);
  node->work = std::move(work);
  return node;
}

// A launch on its way into the node that is being made; see the kernel nodes below.
thread_local Node* target = nullptr;

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

CUgraphExec_st::Step* find_step(cudaGraphExec_t exec, cudaGraphNode_t node) {
  if (!exec) return nullptr;
  for (CUgraphExec_st::Step& step : exec->steps) {
    if (step.node == node) return &step;
  }
  return nullptr;
}

cudaError_t replace(cudaGraphExec_t exec, cudaGraphNode_t node, std::function<cudaError_t()> work) {
  CUgraphExec_st::Step* step = find_step(exec, node);
  if (!step) return result(cudaErrorInvalidValue);
  step->work = std::move(work);
  return result(cudaSuccess);
}

}  // namespace

void note(cudaStream_t stream, cudaGraphNodeType type, std::function<cudaError_t()> work) {
  CUgraph_st* graph = stream->capture->graph;
  auto& node = graph->nodes.emplace_back(make_node(graph, type, stream->last, std::move(work)));
  stream->last = {node.get()};
}

}  // namespace simt::graphs

using namespace simt::graphs;

bool simt::detail::is_captured(const Config& config) {
  return config.to_node || graphs::is_capturing(config.stream);
}

void simt::detail::capture(const Config& config, Work work) {
  const std::shared_ptr<void> closure(work.closure, work.destroy);
  auto later = [closure, run = work.run] {
    const cudaError_t before = device::exchange_last_error(cudaSuccess);
    run(closure.get());
    const cudaError_t error = device::exchange_last_error(before);
    return error ? device::result(error) : device::sticky_error();
  };
  if (config.to_node) {
    target->work = std::move(later);
  } else {
    note(config.stream, cudaGraphNodeTypeKernel, std::move(later));
  }
}

// ---- capture ------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  static std::atomic<unsigned long long> ids{0};
  if (!ordinary(stream)) return result(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return result(cudaErrorIllegalState);
  stream->capture = std::make_shared<Capture>();
  stream->capture->graph = new CUgraph_st;
  stream->capture->origin = stream;
  stream->capture->streams = {stream};
  stream->capture->id = ++ids;
  stream->last.clear();
  return result(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (!graph) return result(cudaErrorInvalidValue);
  *graph = nullptr;
  if (!is_capturing(stream)) return result(cudaErrorIllegalState);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != stream) return result(cudaErrorStreamCaptureUnmatched);
  bool joined = true;
  for (CUstream_st* other : capture->streams) {
    for (const Node* node : other->last) joined &= reaches(stream->last, node);
  }
  for (CUstream_st* other : capture->streams) {
    other->capture.reset();
    if (other != stream) other->last.clear();
  }
  stream->last.clear();
  if (!joined) {
    delete capture->graph;
    return result(cudaErrorStreamCaptureUnjoined);
  }
  *graph = capture->graph;
  return result(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (!status) return result(cudaErrorInvalidValue);
  *status = is_capturing(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return result(cudaSuccess);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph) {
  if (const cudaError_t error = cudaStreamIsCapturing(stream, status)) return error;
  if (!is_capturing(stream)) return cudaSuccess;
  if (id) *id = stream->capture->id;
  if (graph) *graph = stream->capture->graph;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  if (!mode) return result(cudaErrorInvalidValue);
  std::swap(*mode, current);
  return result(cudaSuccess);
}

// ---- graphs and their nodes ---------------------------------------------------------------------

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (!graph || flags) return result(cudaErrorInvalidValue);
  *graph = new CUgraph_st;
  return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!graph) return result(cudaErrorInvalidValue);
  delete graph;
  return result(cudaSuccess);
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  if (!clone || !original) return result(cudaErrorInvalidValue);
  auto* graph = new CUgraph_st;
  std::vector<std::pair<const Node*, Node*>> twins;
  for (const auto& node : original->nodes) {
    auto twin = std::make_unique<Node>(*node);
    twin->graph = graph;
    twins.emplace_back(node.get(), twin.get());
    graph->nodes.push_back(std::move(twin));
  }
  for (const auto& node : graph->nodes) {
    for (Node*& after : node->after) {
      for (const auto& [old, twin] : twins) {
        if (old == after) {
          after = twin;
          break;
        }
      }
    }
  }
  *clone = graph;
  return result(cudaSuccess);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* params) {
  if (!params) return result(cudaErrorInvalidValue);
  std::function<cudaError_t()> work;
  if (const cudaError_t error = kernel_work(*params, work)) return error;
  if (const cudaError_t error =
          add(node, graph, after, count, cudaGraphNodeTypeKernel, std::move(work))) {
    return error;
  }
  (*node)->kernel = *params;
  return cudaSuccess;
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* params) {
  if (!params) return result(cudaErrorInvalidValue);
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy, copy_work(*params));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* to,
                                     const void* from, size_t size, cudaMemcpyKind kind) {
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
             [=] { return cudaMemcpy(to, from, size, kind); });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t count,
                                           const void* symbol, const void* from, size_t size,
                                           size_t offset, cudaMemcpyKind kind) {
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
             [=] { return cudaMemcpyToSymbol(symbol, from, size, offset, kind); });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t count, void* to,
                                             const void* symbol, size_t size, size_t offset,
                                             cudaMemcpyKind kind) {
  return add(node, graph, after, count, cudaGraphNodeTypeMemcpy,
             [=] { return cudaMemcpyFromSymbol(to, symbol, size, offset, kind); });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* params) {
  if (!params) return result(cudaErrorInvalidValue);
  return add(node, graph, after, count, cudaGraphNodeTypeMemset, set_work(*params));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* params) {
  if (!params || !params->fn) return result(cudaErrorInvalidValue);
  return add(node, graph, after, count, cudaGraphNodeTypeHost, host_work(*params));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add(node, graph, after, count, cudaGraphNodeTypeEmpty, {});
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  if (!child) return result(cudaErrorInvalidValue);
  return add(node, graph, after, count, cudaGraphNodeTypeGraph,
             [steps = steps_of(*child)] { return run(steps); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  return add(node, graph, after, count, cudaGraphNodeTypeEventRecord,
             [event] { return cudaEventRecord(event); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count, cudaEvent_t) {
  return add(node, graph, after, count, cudaGraphNodeTypeWaitEvent, {});
}

// The memory of a graph belongs to its node and to what was instantiated of it.
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  if (!params) return result(cudaErrorInvalidValue);
  void* memory = nullptr;
  if (const cudaError_t error = cudaMalloc(&memory, params->bytesize)) return error;
  params->dptr = memory;
  const std::shared_ptr<void> owner(memory, [](void* p) { cudaFree(p); });
  return add(node, graph, after, count, cudaGraphNodeTypeMemAlloc, [owner] { return cudaSuccess; });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* pointer) {
  if (!pointer) return result(cudaErrorInvalidValue);
  return add(node, graph, after, count, cudaGraphNodeTypeMemFree, {});
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, size_t count) {
  if (!graph) return result(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    if (!from[i] || !to[i] || from[i]->graph != graph || to[i]->graph != graph) {
      return result(cudaErrorInvalidValue);
    }
    to[i]->after.push_back(from[i]);
  }
  return result(cudaSuccess);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                     size_t count) {
  return cudaGraphAddDependencies(graph, from, to, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, size_t count) {
  if (!graph) return result(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) std::erase(to[i]->after, from[i]);
  return result(cudaSuccess);
}

namespace {

// Gives as many as there is room for; without room, how many there are.
cudaError_t hand_out(const std::vector<Node*>& found, cudaGraphNode_t* nodes, size_t* count) {
  if (!count) return result(cudaErrorInvalidValue);
  if (nodes) {
    *count = std::min(*count, found.size());
    std::copy_n(found.begin(), *count, nodes);
  } else {
    *count = found.size();
  }
  return result(cudaSuccess);
}

}  // namespace

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph) return result(cudaErrorInvalidValue);
  std::vector<Node*> found;
  for (const auto& node : graph->nodes) found.push_back(node.get());
  return hand_out(found, nodes, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph) return result(cudaErrorInvalidValue);
  std::vector<Node*> found;
  for (const auto& node : graph->nodes) {
    if (node->after.empty()) found.push_back(node.get());
  }
  return hand_out(found, nodes, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              size_t* count) {
  if (!graph) return result(cudaErrorInvalidValue);
  std::vector<Node*> begins, ends;
  for (const auto& node : graph->nodes) {
    for (Node* after : node->after) {
      begins.push_back(after);
      ends.push_back(node.get());
    }
  }
  size_t room = count ? *count : 0;
  if (const cudaError_t error = hand_out(begins, from, count)) return error;
  return hand_out(ends, to, from ? &room : count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData*, size_t* count) {
  return cudaGraphGetEdges(graph, from, to, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         size_t* count) {
  if (!node) return result(cudaErrorInvalidValue);
  return hand_out(node->after, nodes, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData*, size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           size_t* count) {
  if (!node) return result(cudaErrorInvalidValue);
  std::vector<Node*> dependents;
  for (const auto& other : node->graph->nodes) {
    if (std::find(other->after.begin(), other->after.end(), node) != other->after.end()) {
      dependents.push_back(other.get());
    }
  }
  return hand_out(dependents, nodes, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData*, size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (!node || !type) return result(cudaErrorInvalidValue);
  *type = node->type;
  return result(cudaSuccess);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  if (!node) return result(cudaErrorInvalidValue);
  CUgraph_st* graph = node->graph;
  for (const auto& other : graph->nodes) std::erase(other->after, node);
  std::erase_if(graph->nodes, [node](const auto& other) { return other.get() == node; });
  return result(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  if (!node || !params || node->type != cudaGraphNodeTypeKernel || !node->kernel.func) {
    return result(cudaErrorInvalidValue);
  }
  *params = node->kernel;
  return result(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  if (!node || !params) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = kernel_work(*params, node->work)) return error;
  node->kernel = *params;
  return result(cudaSuccess);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  if (!node || !params) return result(cudaErrorInvalidValue);
  node->work = copy_work(*params);
  return result(cudaSuccess);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  if (!node || !params) return result(cudaErrorInvalidValue);
  node->work = set_work(*params);
  return result(cudaSuccess);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  if (!node || !params || !params->fn) return result(cudaErrorInvalidValue);
  node->work = host_work(*params);
  return result(cudaSuccess);
}

// ---- instantiated graphs ------------------------------------------------------------------------

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (!exec || !graph) return result(cudaErrorInvalidValue);
  auto steps = steps_of(*graph);
  if (steps.size() != graph->nodes.size()) return result(cudaErrorInvalidValue);  // a cycle
  *exec = new CUgraphExec_st{std::move(steps)};
  return result(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* fault,
                                 char* log, size_t log_size) {
  if (fault) *fault = nullptr;
  if (log && log_size) *log = 0;
  return cudaGraphInstantiate(exec, graph, 0ull);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  if (!exec) return result(cudaErrorInvalidValue);
  delete exec;
  return result(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::device::sticky_error()) return error;
  if (is_capturing(stream)) {
    note(stream, cudaGraphNodeTypeGraph, [steps = exec->steps] { return run(steps); });
    return result(cudaSuccess);
  }
  return result(run(exec->steps));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return result(exec ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* fault,
                                cudaGraphExecUpdateResult* outcome) {
  if (!exec || !graph) return result(cudaErrorInvalidValue);
  if (fault) *fault = nullptr;
  auto steps = steps_of(*graph);
  auto found = cudaGraphExecUpdateSuccess;
  if (steps.size() != exec->steps.size()) {
    found = cudaGraphExecUpdateErrorTopologyChanged;
  } else {
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].type != exec->steps[i].type) found = cudaGraphExecUpdateErrorNodeTypeChanged;
    }
  }
  if (outcome) *outcome = found;
  if (found != cudaGraphExecUpdateSuccess) return result(cudaErrorGraphExecUpdateFailure);
  for (size_t i = 0; i < steps.size(); ++i) exec->steps[i].work = std::move(steps[i].work);
  return result(cudaSuccess);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  cudaGraphExecUpdateResult outcome = cudaGraphExecUpdateError;
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, nullptr, &outcome);
  if (info) *info = {outcome, nullptr, nullptr};
  return error;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  if (!params) return result(cudaErrorInvalidValue);
  std::function<cudaError_t()> work;
  if (const cudaError_t error = kernel_work(*params, work)) return error;
  return replace(exec, node, std::move(work));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  if (!params) return result(cudaErrorInvalidValue);
  return replace(exec, node, copy_work(*params));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t size, cudaMemcpyKind kind) {
  return replace(exec, node, [=] { return cudaMemcpy(to, from, size, kind); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  if (!params) return result(cudaErrorInvalidValue);
  return replace(exec, node, set_work(*params));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  if (!params || !params->fn) return result(cudaErrorInvalidValue);
  return replace(exec, node, host_work(*params));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  if (!graph || !path) return result(cudaErrorInvalidValue);
  static constexpr const char* kTypes[] = {
      "kernel",     "memcpy",       "memset",           "host",           "graph", "empty",
      "wait event", "event record", "semaphore signal", "semaphore wait", "alloc", "free"};
  std::ofstream out(path);
  out << "digraph graph_ {\n";
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Node& node = *graph->nodes[i];
    out << "  node" << i << " [label=\"" << kTypes[node.type] << "\"]\n";
    for (size_t j = 0; j < graph->nodes.size(); ++j) {
      if (std::count(node.after.begin(), node.after.end(), graph->nodes[j].get())) {
        out << "  node" << j << " -> node" << i << '\n';
      }
    }
  }
  out << "}\n";
  return result(out ? cudaSuccess : cudaErrorOperatingSystem);
}
