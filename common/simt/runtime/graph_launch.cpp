// Graphs that are ready to run.
#include <algorithm>
#include <utility>

#include "report/errors.h"
#include "runtime/graphs.h"

using namespace simt::graphs;
using simt::device::result;

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

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* params) {
  if (!is_exec(exec) || !node) return result(cudaErrorInvalidValue);
  const auto step = std::find_if(exec->steps.begin(), exec->steps.end(),
                                 [&](const auto& one) { return one.node == node; });
  if (step == exec->steps.end() || step->work.type != cudaGraphNodeTypeKernel) {
    return result(cudaErrorInvalidValue);
  }
  Work work = kernel_work(params);
  if (work.wrong != cudaSuccess) return result(work.wrong);
  step->work = std::move(work);
  return result(cudaSuccess);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  if (!is_exec(exec) || !is_graph(graph)) return result(cudaErrorInvalidValue);
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
  if (info) *info = {found, nullptr, nullptr};
  if (found != cudaGraphExecUpdateSuccess) return result(cudaErrorGraphExecUpdateFailure);
  for (size_t i = 0; i < steps.size(); ++i) exec->steps[i].work = std::move(steps[i].work);
  return result(cudaSuccess);
}
