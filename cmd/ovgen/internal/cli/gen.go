package cli

import (
	"fmt"

	"ovgen/cmd/ovgen/internal/module"
	"ovgen/cmd/ovgen/internal/nvrtc"
	"ovgen/cmd/ovgen/internal/output"
)

var genVerb = &verb{
	name:  "gen",
	args:  "PACKAGE",
	short: "write the packages of a package of schedules",
	long: `gen proves each schedule of PACKAGE (ovgen help vet) and writes a Go package for it, and
the package run, which runs any of them. It says how many schedules were explored for which
ranks. All files are written or none; a file that is the
same keeps its time, and generated files of schedules that are gone are removed. Nothing
else is touched.

Device code is compiled to PTX by NVRTC. PTX is kept whose head has the hash of the same
source, the same version of NVRTC and options, and the hash of the PTX as it is; diff compiles
it again and compares. Without NVRTC everything else is written, PTX that any version of it
compiled from the same source is kept, and a note says which packages have none: they build,
and run in the simulator, and New refuses them on a GPU. In a checkout of ovgen make toolchain
gets NVRTC; elsewhere, in the folder of your module or one above it,

  ` + nvrtc.Install + `

or name a libnvrtc.so with -nvrtc PATH or OVGEN_NVRTC.

-c also writes a C library of all the schedules: DIR/ovgen.h, which documents it, and its
main. go build -buildmode=c-shared -o DIR/libovgen.so DIR makes it.`,
	examples: []string{
		"ovgen gen -o generated ./schedules",
		"//go:generate go run " + module.Package("cmd/ovgen") + " gen -o ../generated .",
		"ovgen gen -o generated -c clib ./schedules",
		"ovgen gen -nvrtc /usr/local/cuda/lib64/libnvrtc.so.12 ./schedules",
	},
	emits: true, least: 1, most: 1,
	run: gen,
}

func gen(c *call) error {
	g, err := c.generate(nil)
	if err != nil {
		return err
	}
	if err := c.ctx.Err(); err != nil {
		return fmt.Errorf("write %s: %w", g.dir, err)
	}
	if err := output.Write(g.dir, g.changes); err != nil {
		return err
	}
	removed := 0
	for _, change := range g.changes {
		word := "write "
		if change.New == nil {
			word = "remove"
			removed++
		}
		fmt.Fprintln(c.stdout, word, change.Name)
	}
	for _, line := range g.kernels {
		fmt.Fprintln(c.stdout, line)
	}
	written := len(g.changes) - removed
	fmt.Fprintf(c.stdout, "%s: %d written, %d removed, %d unchanged\n", c.output, written, removed, g.files-written)
	fmt.Fprintln(c.stdout, g.proven)
	c.noteMissing(g)
	return nil
}
