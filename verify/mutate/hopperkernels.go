package mutate

// hopperKernels are mistakes in code for the tensor cores: in the order of copies of boxes, barriers and products.
var hopperKernels = []KernelMutant{
	{File: "device/hopper.h", Text: "copies that see what they saw before", Cores: true,
		Old: `copies_see() { asm volatile("fence.proxy.async;" : : : "memory"); }`, New: `copies_see() {}`},
	{File: "device/hopper.h", Text: "what is stored in shared memory is not shown to copies", Cores: true,
		Old: `shared_written() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }`,
		New: `shared_written() {}`},
	{File: "device/hopper.h", Text: "all boxes but one have written memory", Cores: true, Old: "wait_group 0;",
		New: "wait_group 1;"},
	{File: "device/hopper.h", Text: "boxes have read, and not written", Cores: true, Old: "bulk.wait_group 0;",
		New: "bulk.wait_group.read 0;"},
	{File: "device/hopper.h", Text: "barriers that copies do not see", Cores: true,
		Old: `release.cluster;\n\tfence.proxy.async.shared::cta;`, New: `release.cluster;`},
	{File: "device/hopper.h", Text: "barriers that the cluster does not see", Cores: true,
		Old: `fence.mbarrier_init.release.cluster;\n\t`, New: ``},
	{File: "device/hopper.h", Text: "a ring that stays in its round", Cores: true,
		Old: "stage = 0;\n      round ^= 1;", New: "stage = 0;"},
	{File: "device/hopper.h", Text: "rows of an operand twice as close", Cores: true, Old: "(u64)(1024 >> 4) << 32",
		New: "(u64)(512 >> 4) << 32"},
	{File: "tiles.tmpl", Text: "a slot is posted before its copies have written", Cores: true,
		Old: "        boxes_written();\n", New: ""},
	{File: "tiles.tmpl", Text: "copies are waited for behind the post", Cores: true,
		Old: "        boxes_written();\n" + leaves, New: leaves + "        boxes_written();\n"},
	{File: "device/product.h", Text: "boxes copied before they are shown", Cores: true,
		Old: "    shared_written();\n    meet(group, 128);\n    if (thread == 0) {\n" +
			"      store_box(c, to, tile.column + first_of(wide, box), tile.row, shard);\n    }\n",
		New: "    meet(group, 128);\n    if (thread == 0) {\n" +
			"      store_box(c, to, tile.column + first_of(wide, box), tile.row, shard);\n" +
			"      boxes_left<0>();\n    }\n" +
			"    shared_written();\n"},
	{File: "device/product.h", Text: "boxes copied before all threads have stored", Cores: true,
		Old: "    shared_written();\n    meet(group, 128);\n    if (thread == 0) {\n      store_box(c,",
		New: "    shared_written();\n    if (thread == 0) {\n      boxes_left<0>();\n      store_box(c,"},
	{File: "tiles.tmpl", Text: "operands read in the other phase", Cores: true,
		Old: "barrier_wait(m.full + 8 * at.stage, at.round);\n        const",
		New: "barrier_wait(m.full + 8 * at.stage, at.round ^ 1);\n        const"},
	{File: "tiles.tmpl", Text: "stages filled in the other phase", Cores: true,
		Old: "barrier_wait(m.empty + 8 * at.stage, at.round ^ 1);\n{{- if .Scatters}}\n        load(p",
		New: "barrier_wait(m.empty + 8 * at.stage, at.round);\n{{- if .Scatters}}\n        load(p"},
	{File: "tiles.tmpl", Text: "half of a stage's bytes expected", Cores: true,
		Old: "barrier_expect(m.full + 8 * stage, stage_bytes);",
		New: "barrier_expect(m.full + 8 * stage, stage_bytes / 2);"},
	{File: "tiles.tmpl", Text: "half of the bytes of a peer's part expected", Cores: true,
		Old: "barrier_expect(m.full + 8 * at.stage, a_bytes);",
		New: "barrier_expect(m.full + 8 * at.stage, a_bytes / 2);"},
	{File: "tiles.tmpl", Text: "numbers taken before the last products are there", Cores: true,
		Old: "multiplied<0>();", New: "multiplied<1>();"},
	{File: "device/product.h", Text: "boxes filled while they are copied", Cores: true,
		Old: "boxes_left<boxes - 1>();", New: "boxes_left<boxes>();"},
	{File: "tiles.tmpl", Text: "a block that ends while its boxes are copied", Cores: true,
		Old: "    if (thread == 0) {\n      boxes_left<0>();\n    }\n", New: ""},
	{File: "tiles.tmpl", Text: "a part of B for one block of the cluster alone", Cores: true,
		Old: "(1 << cluster) - 1", New: "1"},
	{File: "tiles.tmpl", Text: "a block that starts before its cluster is there", Cores: true,
		Old: "if (cluster > 1) {\n      cluster_meet();", New: "if (cluster > 1) {\n      __syncthreads();"},
	{File: "tiles.tmpl", Text: "a stage that is filled while it is multiplied", Cores: true,
		Old: "        multiplied<1>();\n" + releases, New: releases + "        multiplied<1>();\n"},
	{File: "tiles.tmpl", Text: "a stage released by the first warp for all", Cores: true, Old: releases,
		New: "        if (k > 0 && thread < cluster) {\n          for (unsigned warp = 0; warp < 4; warp++) {\n" +
			"            barrier_arrive(m.empty + 8 * before, thread);\n          }\n        }\n"},
	{File: "tiles.tmpl", Text: "a peer's part released by the first warp for all", Cores: true,
		Old: "          if (lane == 0) {\n            barrier_arrive(m.empty + 8 * at.stage, 0);\n",
		New: "          for (unsigned warp = 0; threadIdx.x % 128 == 0 && warp < 4; warp++) {\n" +
			"            barrier_arrive(m.empty + 8 * at.stage, 0);\n"},
	{File: "tiles.tmpl", Text: "a block that ends while its cluster may arrive at its barriers", Cores: true,
		Old: "cluster > 1 && {{end}}i < stages", New: "cluster > 1 && {{end}}i < 0 * stages"},
	{File: "tiles.tmpl", Text: "the last tile stored over operands of the one before", Cores: true,
		Old: "meet(5, 256);", New: "(void)0;"},
	{File: "tiles.tmpl", Text: "nothing added behind the peers' parts", Cores: true,
		Old: "(unsigned)p.ranks{{if .Added}} + 1{{end}}", New: "(unsigned)p.ranks"},
	{File: "tiles.tmpl", Text: "a slot added for the tensor", Cores: true,
		Old: "added ? &p.added : &p.slots", New: "&p.slots"},
	{File: "scatter.cu.tmpl", Text: "peers' parts that copies do not see", Cores: true,
		Old: sumWaits + "\n    }\n  }\n  copies_see();", New: sumWaits + "\n    }\n  }"},
	{File: "scatter.cu.tmpl", Text: "groups of the first rows for all", Cores: true,
		Old: "tile.row / (unsigned)p.high * ((columns", New: "0 * ((columns"},
	{File: "scatter.cu.tmpl", Text: "a group of fewer rows counted as a whole one", Cores: true,
		Old: "rows < p.high ? rows : (unsigned)p.high", New: "rows < p.high ? (unsigned)(2 * tall) : (unsigned)p.high"},
	{File: "tiles.cu.tmpl", Text: "shards that copies do not see", Cores: true,
		Old: "await_word(there(p, ahead));\n    copies_see();", New: "await_word(there(p, ahead));"},
	{File: "tiles.cu.tmpl", Text: "shards that copies see before they are there", Cores: true,
		Old: "await_word(there(p, ahead));\n    copies_see();",
		New: "copies_see();\n    await_word(there(p, ahead));"},
}

// leaves is the text by which a tile is counted.
const leaves = "        leave(p, whole, wide, makers);\n"

// releases is the text by which each warp releases the stage before.
const releases = "        if (k > 0 && thread % 32 < cluster) {\n" +
	"          barrier_arrive(m.empty + 8 * before, thread % 32);\n        }\n"
