package mutate

// Kernels are the mistakes that are made in the templates of device code: in memory order,
// scope and fences, in who waits, posts and resets, in the bounds of loops, and in rounding.
var Kernels = []KernelMutant{
	// Words.
	{File: "device/ptx.h", Text: "a wait that does not acquire", Old: "ld.acquire.sys", New: "ld.relaxed.sys"},
	{File: "device/ptx.h", Text: "a wait that acquires from its own GPU only", Old: "ld.acquire.sys", New: "ld.acquire.gpu"},
	{File: "device/ptx.h", Text: "a wait that acquires from its own block only", Old: "ld.acquire.sys", New: "ld.acquire.cta"},
	{File: "device/ptx.h", Text: "a load that the compiler may move", Old: `: "=r"(value) : "l"(word) : "memory");`, New: `: "=r"(value) : "l"(word));`},
	{File: "device/ptx.h", Text: "a post that releases to its own GPU only", Old: "st.release.sys", New: "st.release.gpu"},
	{File: "device/ptx.h", Text: "a post that releases to its own block only", Old: "st.release.sys", New: "st.release.cta"},
	{File: "device/ptx.h", Text: "a post behind a fence that its own GPU alone sees", Old: "st.relaxed.sys", New: "st.relaxed.gpu"},
	{File: "device/words.h", Text: "a wait that looks once", Old: "while (load_acquire", New: "if (load_acquire"},
	{File: "device/words.h", Text: "a wait for 0", Old: "!= 1u", New: "!= 0u"},

	// Post and wait.
	{File: "post.cu.tmpl", Text: "neither fence nor release", Old: "__threadfence_system();\n    store_release", New: "store_relaxed"},
	{File: "post.cu.tmpl", Text: "the fence behind a relaxed post",
		Old: "__threadfence_system();\n    store_release(p.words[threadIdx.x], 1u);",
		New: "store_relaxed(p.words[threadIdx.x], 1u);\n    __threadfence_system();"},
	{File: "post.cu.tmpl", Text: "no fence ahead of the release", Old: "__threadfence_system();\n    ", New: "",
		Right: "a release at the scope of the system orders as the fence does"},
	{File: "post.cu.tmpl", Text: "all words but the last", Old: "threadIdx.x < p.count", New: "threadIdx.x + 1 < p.count"},
	{File: "wait.cu.tmpl", Text: "no wait", Old: "await_word(p.words[threadIdx.x]);", New: ""},
	{File: "wait.cu.tmpl", Text: "all words but the last", Old: "threadIdx.x < p.count", New: "threadIdx.x + 1 < p.count"},
	{File: "wait.cu.tmpl", Text: "no reset", Old: "store_relaxed(p.words[threadIdx.x], 0u);", New: ""},
	{File: "wait.cu.tmpl", Text: "the reset ahead of the wait",
		Old: "await_word(p.words[threadIdx.x]);\n    store_relaxed(p.words[threadIdx.x], 0u);",
		New: "store_relaxed(p.words[threadIdx.x], 0u);\n    await_word(p.words[threadIdx.x]);"},
	{File: "wait.cu.tmpl", Text: "the step noted before all threads have waited", Old: "__syncthreads();", New: ""},

	// Kernels that signal around their work: order and scope.
	{File: "device/blocks.h", Text: "no fence ahead of posts", Old: "__threadfence_system();", New: ""},
	{File: "device/blocks.h", Text: "a fence for the GPU ahead of posts", Old: "__threadfence_system();", New: "__threadfence();"},
	{File: "device/blocks.h", Text: "a fence for the block ahead of posts", Old: "__threadfence_system();", New: "__threadfence_block();"},
	{File: "signals.tmpl", Text: "the fence ahead of the resets", Old: "    reset_words({{.Range \"pre_wait\" .PreWait}}, p.step, p.value);\n" +
		"{{end}}{{if .PostPost}}    post_words({{.Range \"post_post\" .PostPost}});",
		New: "    __threadfence_system();\n    reset_words({{.Range \"pre_wait\" .PreWait}}, p.step, p.value);\n" +
			"{{end}}{{if .PostPost}}    for (unsigned i = 0; i < {{if .EachPeer}}p.peers{{else}}1{{end}}; i++) {\n" +
			"      store_relaxed({{if .EachPeer}}p.post_post[i]{{else}}p.post_post{{end}}, 1u);\n    }"},
	{File: "device/ptx.h", Text: "blocks counted without order", Old: "atom.acq_rel.gpu", New: "atom.relaxed.gpu"},
	{File: "device/ptx.h", Text: "blocks counted without release", Old: "atom.acq_rel.gpu", New: "atom.acquire.gpu"},
	{File: "device/ptx.h", Text: "blocks counted without acquire", Old: "atom.acq_rel.gpu", New: "atom.release.gpu"},
	{File: "device/ptx.h", Text: "blocks counted with the order of a block", Old: "atom.acq_rel.gpu", New: "atom.acq_rel.cta"},
	{File: "device/ptx.h", Text: "blocks counted with the order of the system", Old: "atom.acq_rel.gpu", New: "atom.acq_rel.sys",
		Right: "a wider scope orders what the narrower one does"},
	{File: "device/ptx.h", Text: "a count that does not go back to 0", Old: "gpu.inc.u32", New: "gpu.add.u32"},
	{File: "device/blocks.h", Text: "a block is done before its threads are", Old: "  __syncthreads();\n  return threadIdx.x == 0", New: "  return threadIdx.x == 0"},
	{File: "device/blocks.h", Text: "threads work before their block has waited", Old: "  }\n  __syncthreads();\n}", New: "  }\n}"},

	// Kernels that signal around their work: who waits, posts and resets.
	{File: "device/blocks.h", Text: "only block 0 waits", Old: "if (threadIdx.x < count) {", New: "if (blockIdx.x == 0 && threadIdx.x < count) {"},
	{File: "device/blocks.h", Text: "all words but the last are awaited", Old: "if (threadIdx.x < count) {", New: "if (threadIdx.x < count - (count > 1)) {"},
	{File: "signals.tmpl", Text: "posts ahead of the resets", Old: "    reset_words({{.Range \"pre_wait\" .PreWait}}, p.step, p.value);\n" +
		"{{end}}{{if .PostPost}}    post_words({{.Range \"post_post\" .PostPost}});",
		New: "{{if .PostPost}}    post_words({{.Range \"post_post\" .PostPost}});\n{{end}}" +
			"    reset_words({{.Range \"pre_wait\" .PreWait}}, p.step, p.value);\n{{end}}{{if false}}"},
	{File: "signals.tmpl", Text: "resets behind the closing wait",
		Old: "    reset_words({{.Range \"post_wait\" .PostWait}}, p.step, p.value);\n",
		New: "    reset_words({{.Range \"post_wait\" .PostWait}}, p.step, p.value);\n    reset_words({{.Range \"pre_wait\" .PreWait}}, p.step, p.value);\n"},
	{File: "signals.tmpl", Text: "what closes is not reset", Old: "    reset_words({{.Range \"post_wait\" .PostWait}}, p.step, p.value);\n", New: ""},
	{File: "signals.tmpl", Text: "what waits is not reset", Old: "    reset_words({{.Range \"pre_wait\" .PreWait}}, p.step, p.value);\n", New: ""},
	{File: "device/blocks.h", Text: "one word alone is reset", Old: "i < count; i++) {\n    store_relaxed(words[i], 0u);",
		New: "i < count && i < 1; i++) {\n    store_relaxed(words[i], 0u);"},
	{File: "device/blocks.h", Text: "all words but the last are posted", Old: "i < count; i++) {\n    store_relaxed(words[i], 1u);",
		New: "i + 1 < count; i++) {\n    store_relaxed(words[i], 1u);"},
	{File: "device/blocks.h", Text: "every block that starts opens", Old: "2 * gridDim.x - 1) == 0;", New: "2 * gridDim.x - 1) < gridDim.x;"},
	{File: "device/blocks.h", Text: "the last block to start opens", Old: "2 * gridDim.x - 1) == 0;", New: "2 * gridDim.x - 1) == gridDim.x - 1;"},
	{File: "device/blocks.h", Text: "every thread takes a ticket", Old: "return threadIdx.x == 0 && increment(count, 2", New: "return increment(count, 2"},
	{File: "device/blocks.h", Text: "the first block to finish resets and posts", Old: "increment(count, last) == last;", New: "increment(count, last) == last + 1 - gridDim.x;"},
	{File: "device/blocks.h", Text: "every block resets and posts", Old: "increment(count, last) == last;", New: "increment(count, last) <= last;"},
	{File: "signals.tmpl", Text: "a ticket at the start though nothing opens", Old: "{{if .PrePost}}2{{else}}1{{end}}", New: "{{if .PrePost}}2{{else}}2{{end}}"},
	{File: "device/blocks.h", Text: "one ticket too many", Old: "times * gridDim.x - 1", New: "times * gridDim.x"},
	{File: "signals.tmpl", Text: "who opens does not wait", Old: "    post_words({{.Range \"pre_post\" .PrePost}});\n", New: "    post_words({{.Range \"pre_post\" .PrePost}});\n    return;\n"},
	{File: "signals.tmpl", Text: "the wait ahead of opening", Old: "{{if .PrePost}}  if (first_block", New: "{{if .PrePost}}  block_await({{.Range \"pre_wait\" .PreWait}});\n  if (first_block"},
	{File: "signals.tmpl", Text: "one closing word alone is awaited", Old: "i < p.peers; i++) {\n      await_word(p.post_wait[i]);", New: "i < p.peers && i < 1; i++) {\n      await_word(p.post_wait[i]);"},
	{File: "sums.cu.tmpl", Text: "the work ahead of the wait",
		Old: "{{template \"before\" .}}  sum<E>(p.dst, p.terms, {{if .Varies}}p.n{{else}}{{.Terms}}{{end}}, p.count);\n",
		New: "  sum<E>(p.dst, p.terms, {{if .Varies}}p.n{{else}}{{.Terms}}{{end}}, p.count);\n{{template \"before\" .}}"},
	{File: "copies.cu.tmpl", Text: "the post ahead of the work",
		Old: "  copy_bytes(p.dst, p.src, p.bytes);\n{{template \"after\" .}}", New: "{{template \"after\" .}}  copy_bytes(p.dst, p.src, p.bytes);\n"},
	{File: "copies.cu.tmpl", Text: "no wait", Old: "{{template \"before\" .}}", New: ""},

	// Loops.
	{File: "device/bytes.h", Text: "unrolled loop one round too far", Old: "i + 3 * stride < units", New: "i + 2 * stride < units"},
	{File: "device/bytes.h", Text: "a unit stored in another's place", Old: "to[i + stride] = b;", New: "to[i] = b;"},
	{File: "device/bytes.h", Text: "all units but the last", Old: "for (; i < units; i += stride)", New: "for (; i + 1 < units; i += stride)"},
	{File: "device/bytes.h", Text: "one byte too few at the ends", Old: "i < bytes - middle", New: "i + 1 < bytes - middle"},
	{File: "device/bytes.h", Text: "a head longer than the copy", Old: "if (head > bytes) {", New: "if (head > bytes + 16) {"},
	{File: "device/bytes.h", Text: "every block copies everything", Old: "(u64)blockIdx.x * blockDim.x + threadIdx.x, stride = (u64)gridDim.x * blockDim.x;",
		New: "threadIdx.x, stride = blockDim.x;"},

	// Sums.
	{File: "device/sum.h", Text: "terms of a unit in reverse order", Old: "add<E>(x, v[j]);", New: "add<E>(x, v[in_flight - 1 - j]);"},
	{File: "device/sum.h", Text: "terms of an element in reverse order", Old: "x += E::widen(((const bits *)terms[t])[at]);", New: "x += E::widen(((const bits *)terms[n - t])[at]);"},
	{File: "device/sum.h", Text: "one term of an element too few", Old: "for (unsigned t = 1; t < n; t++)", New: "for (unsigned t = 1; t + 1 < n; t++)"},
	{File: "device/sum.h", Text: "one element too few at the ends", Old: "i < count - middle", New: "i + 1 < count - middle"},
	{File: "device/sum.h", Text: "one unit too few", Old: "i < units; i += stride", New: "i + 1 < units; i += stride"},
	{File: "sums.cu.tmpl", Text: "one term too few where their number is fixed", Old: "{{else}}{{.Terms}}{{end}}, p.count", New: "{{else}}{{.Terms}} - 1{{end}}, p.count"},
	{File: "device/fp16.h", Text: "fp16 rounded towards zero", Old: "cvt.rn.f16.f32", New: "cvt.rz.f16.f32"},
	{File: "device/bf16.h", Text: "bf16 rounded towards zero", Old: "cvt.rn.bf16.f32", New: "cvt.rz.bf16.f32"},
	{File: "device/sum.h", Text: "elements rounded at each term", Old: "x[i] += E::widen(bits);", New: "x[i] = E::widen(E::narrow(x[i] + E::widen(bits)));"},
	{File: "device/sum.h", Text: "a sum that begins at +0", Old: "x[k] = -0.0f;", New: "x[k] = 0.0f;"},
	{File: "device/bf16.h", Text: "bf16 taken for fp16", Old: "__uint_as_float(x << 16)", New: "half_bits_to_float(x)"},
}
