// Causal attention of all rows: query heads of 128 columns, a group of which shares a head of keys and values. A block
// takes a row of a head, a tile of keys at a time: a thread has a key while scores are made, and a column after that.

static const i64 width = 128, tile = 128;

template <typename E>
DEVICE void causal(Out<E> o, In<E> query, In<E> key, In<E> value, i64 rows, i64 columns, i64 shared)
{
  SHARED(float, scores, tile);
  const i64 heads = columns / width, groups = shared / width;
  for (i64 item = blockIdx.x; item < rows * heads; item += gridDim.x) {
    const i64 row = item / heads, head = item % heads, group = head * groups / heads, t = threadIdx.x;
    float most = -INFINITY, sum = 0.0f, made = 0.0f;
    for (i64 first = 0; first <= row; first += tile) {
      const i64 keys = row + 1 - first < tile ? row + 1 - first : tile;
      if (t < keys) {
        float score = 0.0f;
        for (i64 c = 0; c < width; c++) {
          score += query[row * columns + head * width + c] * key[(first + t) * shared + group * width + c];
        }
        scores[t] = score / sqrtf((float)width);
      }
      __syncthreads();
      float larger = most;
      for (i64 k = 0; k < keys; k++) {
        larger = fmaxf(larger, scores[k]);
      }
      const float left = expf(most - larger);
      most = larger;
      sum *= left;
      made *= left;
      for (i64 k = 0; k < keys; k++) {
        const float weight = expf(scores[k] - most);
        sum += weight;
        made += weight * value[(first + k) * shared + group * width + t];
      }
      __syncthreads();  // all have read the scores
    }
    o[row * columns + head * width + t] = made / sum;
  }
}
