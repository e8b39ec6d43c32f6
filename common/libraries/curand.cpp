// cuRAND's generators of the host: see curand.h.
#include <curand.h>

#include <cmath>
#include <memory>

#include "libraries/operands.h"
#include "libraries/random.h"
#include "report/errors.h"
#include "runtime/streams.h"

struct curandGenerator_st {
  bool on_host = false;
  unsigned long long seed = 0, offset = 0;  // the next word
  cudaStream_t stream = nullptr;
};

namespace {

using namespace simt;

// The words of a generator, one after the other.
class Words {
 public:
  Words(unsigned long long seed, unsigned long long offset) : seed_(seed), next_(offset) {}
  unsigned operator()() {
    if (next_ % 4 == 0 || !has_block_) {
      const unsigned long long block = next_ / 4;
      block_ = random::philox(
          uint4(static_cast<unsigned>(block), static_cast<unsigned>(block >> 32), 0, 0),
          uint2(static_cast<unsigned>(seed_), static_cast<unsigned>(seed_ >> 32)));
      has_block_ = true;
    }
    const unsigned words[] = {block_.x, block_.y, block_.z, block_.w};
    return words[next_++ % 4];
  }
  // In (0, 1].
  double uniform() {
    const unsigned long long high = (*this)(), low = (*this)();
    return static_cast<double>((high << 21 ^ low >> 11) + 1) * 0x1p-53;
  }
  float uniform_float() { return static_cast<float>((*this)() >> 8) * 0x1p-24f + 0x1p-24f; }
  // A pair (Box and Muller).
  void normal(double& first, double& second) {
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
    first = radius * std::sin(angle);
    second = radius * std::cos(angle);
  }

 private:
  unsigned long long seed_, next_;
  uint4 block_{};
  bool has_block_ = false;
};

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool on_host) {
  if (!generator || type >= CURAND_RNG_QUASI_DEFAULT) return CURAND_STATUS_TYPE_ERROR;
  *generator = new curandGenerator_st;
  (*generator)->on_host = on_host;
  return CURAND_STATUS_SUCCESS;
}

// Fills `out` with fill(words), where a number takes `words_of_one` of them.
template <class T, class Fill>
curandStatus_t generate(curandGenerator_t generator, const char* name, uint64_t caller, T* out,
                        size_t n, unsigned words_of_one, Fill fill) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (device::sticky_error()) return CURAND_STATUS_PREEXISTING_FAILURE;
  runtime::Operands operands(name, caller);
  if (n && !generator->on_host && !operands.reach("the output", out, n * sizeof(T), true))
    return CURAND_STATUS_LAUNCH_FAILURE;
  device::note_uncounted(
      "What cuRAND's generators compute is carried out on the host and not "
      "counted.");
  const cudaError_t error =
      graphs::enqueue(generator->stream, cudaGraphNodeTypeHost, [=, written = operands.written()] {
        Words words(generator->seed, generator->offset);
        generator->offset += words_of_one * n;
        fill(words, out, n);
        for (const auto& [begin, size] : written) memory::mark_written(begin, size);
        return cudaSuccess;
      });
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}
template <class T>
curandStatus_t generate_normal(curandGenerator_t generator, const char* name, uint64_t caller,
                               T* out, size_t n, double mean, double deviation) {
  if (n % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(generator, name, caller, out, n, 2, [=](Words& words, T* to, size_t count) {
    for (size_t i = 0; i + 1 < count; i += 2) {
      double first, second;
      words.normal(first, second);
      to[i] = static_cast<T>(mean + deviation * first);
      to[i + 1] = static_cast<T>(mean + deviation * second);
    }
  });
}

}  // namespace

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
  *version = 10400;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed;
  generator->offset = 0;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->offset = offset;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t) {
  return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, size_t n) {
  return generate(generator, "curandGenerate", SIMT_CALLER, out, n, 1,
                  [](Words& words, unsigned* to, size_t count) {
                    for (size_t i = 0; i < count; ++i) to[i] = words();
                  });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t n) {
  return generate(generator, "curandGenerateUniform", SIMT_CALLER, out, n, 1,
                  [](Words& words, float* to, size_t count) {
                    for (size_t i = 0; i < count; ++i) to[i] = words.uniform_float();
                  });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t n) {
  return generate(generator, "curandGenerateUniformDouble", SIMT_CALLER, out, n, 2,
                  [](Words& words, double* to, size_t count) {
                    for (size_t i = 0; i < count; ++i) to[i] = words.uniform();
                  });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t n, float mean,
                                    float stddev) {
  return generate_normal(generator, "curandGenerateNormal", SIMT_CALLER, out, n, mean, stddev);
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t n,
                                          double mean, double stddev) {
  return generate_normal(generator, "curandGenerateNormalDouble", SIMT_CALLER, out, n, mean,
                         stddev);
}
