#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/token_logprob/token_logprob.h"

// A tile of a product is 64 x 64, summed in registers by 256 threads. Forward, a block goes through the tiles of its
// share of the vocabulary and keeps running sums. Backward, the workspace holds slopes of [1024 tokens, 4096 logits]
// between their computation and the two products that use them. There are no atomics, so every run gives the same bits.
namespace agon::kernels::cuda {
namespace {

using Input = TokenLogprobInput<float>;
using Gradient = TokenLogprobGradient<float>;

constexpr int kTile = 64, kDepth = 16, kThreads = 256,
              kSide = 16;  // a thread sums 4 x 4: rows 4 ty .., columns 4 tx ..
constexpr int kEach = kTile / kSide;
constexpr int kShares = 64;                           // of the vocabulary, forward
constexpr std::int64_t kChunk = 1024, kBlock = 4096;  // backward: tokens, entries of the vocabulary

__host__ __device__ std::int64_t pieces(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

struct Matrix {
  const float* at;
  std::int64_t row, column;  // strides
};
struct Shape {
  std::int64_t rows, columns, depth;  // of a product [rows, depth] x [depth, columns]
};

// tile[k][i] = m[first + i, k0 + k] for 64 rows of m, 0 outside [rows, depth]. Neighbouring threads read neighbouring
// addresses, whether m is stored by rows or by columns.
__device__ void load_tile(const Matrix& m, std::int64_t first, std::int64_t rows, std::int64_t k0, std::int64_t depth,
                          float (*tile)[kTile + 4]) {
  for (int n = threadIdx.x; n < kTile * kDepth; n += kThreads) {
    const int i = m.column == 1 ? n / kDepth : n % kTile, k = m.column == 1 ? n % kDepth : n / kTile;
    const bool inside = first + i < rows && k0 + k < depth;
    tile[k][i] = inside ? m.at[(first + i) * m.row + (k0 + k) * m.column] : 0;
  }
}

// sums[i][j] = the product a b^T at row + 4 ty + i, column + 4 tx + j; b is [columns, depth]. All threads of a block
// take part.
__device__ void tile_product(const Matrix& a, const Matrix& b, const Shape& shape, std::int64_t row,
                             std::int64_t column, float (&sums)[kEach][kEach]) {
  __shared__ float a_tile[kDepth][kTile + 4], b_tile[kDepth][kTile + 4];
  const int ty = threadIdx.x / kSide * kEach, tx = threadIdx.x % kSide * kEach;
  for (auto& line : sums)
    for (float& sum : line) sum = 0;
  for (std::int64_t k0 = 0; k0 < shape.depth; k0 += kDepth) {
    load_tile(a, row, shape.rows, k0, shape.depth, a_tile);
    load_tile(b, column, shape.columns, k0, shape.depth, b_tile);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k)
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums[i][j] += a_tile[k][ty + i] * b_tile[k][tx + j];
    __syncthreads();
  }
}

// The largest z, the sum of e^(z - max) and of (z - max) e^(z - max), of the z seen so far. A NaN stays in the sums.
struct RunningSums {
  float max = -INFINITY, total = 0, weighted = 0;

  __device__ void rescale(float new_max) {
    const float below = max - new_max, share = expf(below);
    weighted = share * (weighted + below * total);
    total *= share;
    max = new_max;
  }
  __device__ void join(RunningSums other) {
    if (other.total == 0) return;
    if (total == 0) {
      *this = other;
      return;
    }
    if (other.max > max)
      rescale(other.max);
    else
      other.rescale(max);
    total += other.total;
    weighted += other.weighted;
  }
};

__device__ void join_lanes(RunningSums (&sums)[kEach], std::int64_t first, std::int64_t tokens, RunningSums* to) {
  __shared__ float lanes[3][kTile][kSide + 1];
  const int ty = threadIdx.x / kSide * kEach, tx = threadIdx.x % kSide;
  for (int i = 0; i < kEach; ++i) {
    lanes[0][ty + i][tx] = sums[i].max;
    lanes[1][ty + i][tx] = sums[i].total;
    lanes[2][ty + i][tx] = sums[i].weighted;
  }
  __syncthreads();
  const int t = threadIdx.x;
  if (t >= kTile || first + t >= tokens) return;
  RunningSums all;
  for (int lane = 0; lane < kSide; ++lane) all.join({lanes[0][t][lane], lanes[1][t][lane], lanes[2][t][lane]});
  to[first + t] = all;
}

// One block handles 64 tokens and one share of the vocabulary: writes sums[share, token], and own_logit[token] if the
// token's id is in the share.
__global__ void sum_shares(Input in, RunningSums* sums, float* own_logit) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile, share = blockIdx.y;
  const std::int64_t tiles = pieces(in.vocabulary, kTile), row = first + threadIdx.x / kSide * kEach;
  const Matrix hidden{in.hidden, in.width, 1}, head{in.head, in.width, 1};
  RunningSums running[kEach];
  for (std::int64_t tile = share; tile < tiles; tile += kShares) {
    float products[kEach][kEach];
    tile_product(hidden, head, {in.tokens, in.vocabulary, in.width}, first, tile * kTile, products);
    const std::int64_t column = tile * kTile + threadIdx.x % kSide * kEach;
    for (int i = 0; i < kEach; ++i)
      for (int j = 0; j < kEach; ++j) {
        if (row + i >= in.tokens || column + j >= in.vocabulary) continue;
        const float z = products[i][j] * in.inverse_temperature;
        running[i].join({z, 1, 0});
        if (in.ids[row + i] == column + j) own_logit[row + i] = z;
      }
  }
  join_lanes(running, first, in.tokens, sums + share * in.tokens);
}

__global__ void join_shares(Input in, TokenLogprobOutput<float> out, const RunningSums* sums, const float* own_logit) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (token >= in.tokens) return;
  RunningSums all;
  for (int share = 0; share < kShares; ++share) all.join(sums[share * in.tokens + token]);
  const float log_total = logf(all.total), log_sum = all.max + log_total,
              entropy = log_total - all.weighted / all.total;
  out.logprob[token] = isfinite(log_sum) ? own_logit[token] - log_sum : NAN;
  out.entropy[token] = entropy < 0 ? 0 : entropy;
  out.log_sum[token] = log_sum;
}

struct StoreSum {
  float* to;
  std::int64_t stride;
  bool add;
  __device__ void operator()(std::int64_t row, std::int64_t column, float sum) const {
    float& at = to[row * stride + column];
    at = add ? at + sum : sum;
  }
};

// Turns the logit of token first_token + row and entry first_entry + column of the vocabulary into the loss's gradient
// of it.
struct StoreSlope {
  Input in;
  Gradient gradient;
  std::int64_t first_token, first_entry;
  float* slopes;  // [.., kBlock]
  __device__ void operator()(std::int64_t row, std::int64_t column, float sum) const {
    const std::int64_t token = first_token + row;
    const float log_p = sum * in.inverse_temperature - gradient.log_sum[token];
    const float d_logprob = gradient.d_logprob[token], d_entropy = gradient.d_entropy ? gradient.d_entropy[token] : 0;
    float slope = -expf(log_p) * (d_logprob + d_entropy * (log_p + gradient.entropy[token]));
    if (in.ids[token] == first_entry + column) slope += d_logprob;
    slopes[row * kBlock + column] = slope * in.inverse_temperature;
  }
};

template <typename Store>
__global__ void multiply(Matrix a, Matrix b, Shape shape, Store put) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * kTile;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kTile;
  float sums[kEach][kEach];
  tile_product(a, b, shape, row, column, sums);
  const std::int64_t i0 = row + threadIdx.x / kSide * kEach, j0 = column + threadIdx.x % kSide * kEach;
  for (std::int64_t i = i0; i < i0 + kEach; ++i)
    for (std::int64_t j = j0; j < j0 + kEach; ++j)
      if (i < shape.rows && j < shape.columns) put(i, j, sums[i - i0][j - j0]);
}

template <typename Store>
void launch(const Matrix& a, const Matrix& b, const Shape& shape, const Store& put, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(pieces(shape.columns, kTile)),
                  static_cast<unsigned>(pieces(shape.rows, kTile)));
  multiply<<<grid, kThreads, 0, stream>>>(a, b, shape, put);
}

// Computes the slopes of one chunk of tokens and one block of the vocabulary and adds their part to the gradients.
void run_block(const Input& in, const Gradient& gradient, std::int64_t token, std::int64_t entry, float* slopes,
               cudaStream_t stream) {
  const std::int64_t tokens = std::min(kChunk, in.tokens - token), entries = std::min(kBlock, in.vocabulary - entry);
  const float *hidden = in.hidden + token * in.width, *head = in.head + entry * in.width;
  launch({hidden, in.width, 1}, {head, in.width, 1}, {tokens, entries, in.width},
         StoreSlope{in, gradient, token, entry, slopes}, stream);
  if (gradient.d_head)
    launch({slopes, 1, kBlock}, {hidden, 1, in.width}, {entries, in.width, tokens},
           StoreSum{gradient.d_head + entry * in.width, in.width, token > 0}, stream);
  if (gradient.d_hidden)
    launch({slopes, kBlock, 1}, {head, 1, in.width}, {tokens, in.width, entries},
           StoreSum{gradient.d_hidden + token * in.width, in.width, entry > 0}, stream);
}

}  // namespace

std::size_t token_logprob_workspace(std::int64_t tokens) {
  const auto forward = static_cast<std::size_t>(tokens) * (kShares * sizeof(RunningSums) + sizeof(float));
  const auto backward = static_cast<std::size_t>(std::min(tokens, kChunk) * kBlock) * sizeof(float);
  return std::max(forward, backward);
}

int token_logprob(const Input& in, const TokenLogprobOutput<float>& out, void* workspace, void* stream) {
  if (in.tokens == 0) return cudaSuccess;
  auto* sums = static_cast<RunningSums*>(workspace);
  auto* own_logit = reinterpret_cast<float*>(sums + kShares * in.tokens);
  const dim3 grid(static_cast<unsigned>(pieces(in.tokens, kTile)), kShares);
  sum_shares<<<grid, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(in, sums, own_logit);
  join_shares<<<static_cast<unsigned>(pieces(in.tokens, kThreads)), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      in, out, sums, own_logit);
  return cudaGetLastError();
}

int token_logprob_backward(const Input& in, const Gradient& gradient, void* workspace, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  if (in.tokens == 0 && gradient.d_head)
    return cudaMemsetAsync(gradient.d_head, 0, static_cast<std::size_t>(in.vocabulary * in.width) * sizeof(float),
                           queue);
  for (std::int64_t token = 0; token < in.tokens; token += kChunk)
    for (std::int64_t entry = 0; entry < in.vocabulary; entry += kBlock)
      run_block(in, gradient, token, entry, static_cast<float*>(workspace), queue);
  return cudaGetLastError();
}

}  // namespace agon::kernels::cuda
