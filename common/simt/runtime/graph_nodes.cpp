// Graphs and their nodes.
#include <algorithm>
#include <utility>

#include "report/errors.h"
#include "runtime/graphs.h"
#include "runtime/memory_calls.h"

using namespace simt::graphs;
using simt::device::result;

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (!graph || flags) return result(cudaErrorInvalidValue);
  *graph = simt::Handles<CUgraph_st>::add(new CUgraph_st);
  return result(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (!simt::Handles<CUgraph_st>::remove(graph)) return result(cudaErrorInvalidValue);
  delete graph;
  return result(cudaSuccess);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* params) {
  return add(node, graph, after, count, kernel_work(params));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* to,
                                     const void* from, size_t size, cudaMemcpyKind kind) {
  return add(node, graph, after, count, copy_work(to, from, size, kind));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* params) {
  return add(node, graph, after, count, set_work(params));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* params) {
  return add(node, graph, after, count, host_work(params));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add(node, graph, after, count, {cudaGraphNodeTypeEmpty});
}

// The memory of a graph belongs to its node and to what was instantiated of it. Where no node frees it the program may, and the
// next launch allocates it again, at the same address.
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  if (!params) return result(cudaErrorInvalidValue);
  void* memory = nullptr;
  if (const cudaError_t error = cudaMalloc(&memory, params->bytesize)) return error;
  params->dptr = memory;
  const std::shared_ptr<void> owner(memory, [](void* p) {
    if (simt::runtime::live_at(p)) cudaFree(p);
  });
  return add(node, graph, after, count,
             {cudaGraphNodeTypeMemAlloc, [owner] {
                simt::memory::allocate_again(reinterpret_cast<uint64_t>(owner.get()));
                return cudaSuccess;
              }});
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* pointer) {
  if (!pointer) return result(cudaErrorInvalidValue);
  return add(node, graph, after, count, {cudaGraphNodeTypeMemFree});
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
  if (!is_graph(graph)) return result(cudaErrorInvalidValue);
  std::vector<Node*> found;
  for (const auto& node : graph->nodes) found.push_back(node.get());
  return hand_out(found, nodes, count);
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
  *type = node->work.type;
  return result(cudaSuccess);
}
