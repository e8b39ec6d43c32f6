// Graphs as the functions of the API share them.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "runtime/streams.h"

namespace simt::graphs {

using Node = CUgraphNode_st;

// Has it been made, and not destroyed?
inline bool is_graph(cudaGraph_t graph) { return Handles<CUgraph_st>::is_live(graph); }
inline bool is_exec(cudaGraphExec_t exec) { return Handles<CUgraphExec_st>::is_live(exec); }

// Where a launch goes that is on its way into a node: see Config::to_node.
extern thread_local Work* target;

// What a graph does, each step after those it waits for; empty for a graph with a cycle.
std::vector<CUgraphExec_st::Step> steps_of(const CUgraph_st& graph);
// `queues`: those that the graph has for its steps; without, the steps count as one piece of work.
cudaError_t run(const std::vector<CUgraphExec_st::Step>& steps, cudaStream_t stream = nullptr,
                std::vector<uint32_t>* queues = nullptr);

// Adds a node behind others.
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                Work work);

// What nodes with these parameters do. The launch has the arguments as they are now.
Work kernel_work(const cudaKernelNodeParams* params);
Work copy_work(void* to, const void* from, size_t size, cudaMemcpyKind kind);
Work set_work(const cudaMemsetParams* params);
Work host_work(const cudaHostNodeParams* params);

// Is `node` among those that `from` wait for, directly or not?
bool reaches(const std::vector<Node*>& from, const Node* node);

}  // namespace simt::graphs
