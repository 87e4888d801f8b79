// Causal attention of all rows: query heads, a group of which shares a head of keys and values. A block takes a row of
// a head, a tile of keys at a time: a thread has a key while scores are made, and a column after that.

static const i64 tile = 128;

template <typename E>
DEVICE void causal(Out<E> o, In<E> query, In<E> key, In<E> value, i64 rows, i64 columns, i64 shared, i64 width)
{
  SHARED(float, scores, tile);
  const i64 heads = columns / width, groups = shared / width, parts = (width + tile - 1) / tile;
  for (i64 item = blockIdx.x; item < rows * heads * parts; item += gridDim.x) {
    const i64 row = item / parts / heads, head = item / parts % heads, group = head * groups / heads, t = threadIdx.x;
    const i64 column = item % parts * tile + t;
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
        if (column < width) {
          made += weight * value[(first + k) * shared + group * width + column];
        }
      }
      __syncthreads();  // all have read the scores
    }
    if (column < width) {
      o[row * columns + head * width + column] = made / sum;
    }
  }
}
