// Graphs that are ready to run.
#include <algorithm>
#include <fstream>
#include <utility>

#include "report/errors.h"
#include "runtime/graphs.h"

using namespace simt::graphs;
using simt::device::result;

// What the graph does for this node; nullptr if it has none of it.
static CUgraphExec_st::Step* step_of(cudaGraphExec_t exec, cudaGraphNode_t node) {
  if (!is_exec(exec)) return nullptr;
  for (CUgraphExec_st::Step& step : exec->steps) {
    if (step.node == node) return &step;
  }
  return nullptr;
}
static Work* work_of(cudaGraphExec_t exec, cudaGraphNode_t node) {
  CUgraphExec_st::Step* const step = step_of(exec, node);
  return step ? &step->work : nullptr;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (!exec || !is_graph(graph)) return result(cudaErrorInvalidValue);
  auto steps = steps_of(*graph);
  if (steps.size() != graph->nodes.size()) return result(cudaErrorInvalidValue);  // a cycle
  *exec = simt::Handles<CUgraphExec_st>::add(new CUgraphExec_st{std::move(steps)});
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

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  if (!params) return result(cudaErrorInvalidValue);
  const cudaError_t error = cudaGraphInstantiate(exec, graph, params->flags);
  params->errNode_out = nullptr;
  params->result_out = !error          ? cudaGraphInstantiateSuccess
                       : exec && graph ? cudaGraphInstantiateInvalidStructure
                                       : cudaGraphInstantiateError;
  return error;
}

// Nodes of other kinds cannot be disabled.
static bool can_be_disabled(const CUgraphExec_st::Step* step) {
  return step &&
         (step->work.type == cudaGraphNodeTypeKernel ||
          step->work.type == cudaGraphNodeTypeMemcpy || step->work.type == cudaGraphNodeTypeMemset);
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  CUgraphExec_st::Step* const step = step_of(exec, node);
  if (!can_be_disabled(step)) return result(cudaErrorInvalidValue);
  step->is_enabled = enabled != 0;
  return result(cudaSuccess);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  const CUgraphExec_st::Step* const step = step_of(exec, node);
  if (!enabled || !can_be_disabled(step)) return result(cudaErrorInvalidValue);
  *enabled = step->is_enabled;
  return result(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  if (!simt::Handles<CUgraphExec_st>::remove(exec)) return result(cudaErrorInvalidValue);
  simt::stream_order::give_back(exec->queues);
  delete exec;
  return result(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!is_exec(exec)) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::device::sticky_error()) return error;
  if (is_capturing(stream)) {
    note(stream, {cudaGraphNodeTypeGraph, [steps = exec->steps] { return run(steps); }});
    return result(cudaSuccess);
  }
  return result(run(exec->steps, stream, &exec->queues));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return result(is_exec(exec) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* fault,
                                cudaGraphExecUpdateResult* outcome) {
  if (!is_exec(exec) || !is_graph(graph)) return result(cudaErrorInvalidValue);
  if (fault) *fault = nullptr;
  auto steps = steps_of(*graph);
  auto found = cudaGraphExecUpdateSuccess;
  if (steps.size() != exec->steps.size()) {
    found = cudaGraphExecUpdateErrorTopologyChanged;
  } else {
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].work.type != exec->steps[i].work.type)
        found = cudaGraphExecUpdateErrorNodeTypeChanged;
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
  return replace(work_of(exec, node), kernel_work(params));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* params) {
  return replace(work_of(exec, node), copy_work(params));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, size_t size, cudaMemcpyKind kind) {
  return replace(work_of(exec, node), copy_work(to, from, size, kind));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     size_t size, size_t offset,
                                                     cudaMemcpyKind kind) {
  return replace(work_of(exec, node), copy_to_symbol(symbol, from, size, offset, kind));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* to, const void* symbol, size_t size,
                                                       size_t offset, cudaMemcpyKind kind) {
  return replace(work_of(exec, node), copy_from_symbol(to, symbol, size, offset, kind));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* params) {
  return replace(work_of(exec, node), set_work(params));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* params) {
  return replace(work_of(exec, node), host_work(params));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  if (!is_graph(graph) || !path) return result(cudaErrorInvalidValue);
  static constexpr const char* kTypes[] = {
      "kernel",     "memcpy",       "memset",           "host",           "graph", "empty",
      "wait event", "event record", "semaphore signal", "semaphore wait", "alloc", "free"};
  std::ofstream out(path);
  out << "digraph graph_ {\n";
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Node& node = *graph->nodes[i];
    out << "  node" << i << " [label=\"" << kTypes[node.work.type] << "\"]\n";
    for (size_t j = 0; j < graph->nodes.size(); ++j) {
      if (std::count(node.after.begin(), node.after.end(), graph->nodes[j].get())) {
        out << "  node" << j << " -> node" << i << '\n';
      }
    }
  }
  out << "}\n";
  return result(out ? cudaSuccess : cudaErrorOperatingSystem);
}
