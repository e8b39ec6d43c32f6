// Graphs as the functions of the API share them.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <vector>

#include "runtime/streams.h"

namespace simt::graphs {

using Node = CUgraphNode_st;

std::unique_ptr<Node> make_node(CUgraph_st* graph, cudaGraphNodeType type, std::vector<Node*> after,
                                std::function<cudaError_t()> work);

// A launch on its way into the node that is being made.
extern thread_local Node* target;

// What a graph does, each step after those it waits for; empty for a graph with a cycle.
std::vector<CUgraphExec_st::Step> steps_of(const CUgraph_st& graph);
cudaError_t run(const std::vector<CUgraphExec_st::Step>& steps);

// Adds a node behind others.
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                cudaGraphNodeType type, std::function<cudaError_t()> work);

// What nodes do. The launch has the arguments as they are now.
cudaError_t kernel_work(const cudaKernelNodeParams& params, std::function<cudaError_t()>& work);
std::function<cudaError_t()> copy_work(const cudaMemcpy3DParms& params);
std::function<cudaError_t()> set_work(const cudaMemsetParams& p);
std::function<cudaError_t()> host_work(const cudaHostNodeParams& p);

// Is `node` among those that `from` wait for, directly or not?
bool reaches(const std::vector<Node*>& from, const Node* node);

}  // namespace simt::graphs
