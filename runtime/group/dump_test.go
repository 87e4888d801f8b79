//go:build cgo

package group_test

import (
	"io"
	"strings"
	"testing"

	"ovgen/runtime/group"
	"ovgen/runtime/launcher"
	"ovgen/verify/sim"
)

// TestDumpWords: the Config's words win over the environment's, and words without a package that knows them are
// refused with its name.
func TestDumpWords(t *testing.T) {
	known := func(words string, to io.Writer) (func(group.Tracer) error, error) {
		return func(group.Tracer) error {
			_, err := io.WriteString(to, words)
			return err
		}, nil
	}
	for _, x := range []struct {
		config, environment string
		by                  group.Dumper
		want, err           string
	}{
		{},
		{by: known},
		{config: "host", by: known, want: "host"},
		{environment: "ops", by: known, want: "ops"},
		{config: "plans", environment: "ops", by: known, want: "plans"},
		{environment: "ops", err: `OVGEN_DUMP is "ops"`},
		{config: "host", err: "import runtime/dump"},
	} {
		t.Run(x.config+"/"+x.environment, func(t *testing.T) {
			group.RegisterDumper(x.by)
			defer group.RegisterDumper(nil)
			t.Setenv(launcher.EnvDump, x.environment)
			inBubble(t, sim.Config{Devices: 1}, false, func(w *world) {
				var text strings.Builder
				cs := w.configs(0, 1)
				cs[0].Dump, cs[0].DumpTo = x.config, &text
				groups, errs := w.join(cs)
				if x.err != "" {
					if errs[0] == nil || !strings.Contains(errs[0].Error(), x.err) {
						w.Errorf("%v, want %q", errs[0], x.err)
					}
					return
				}
				if errs[0] != nil {
					w.Fatal(errs[0])
				}
				if err := groups[0].Dump(nil); err != nil || text.String() != x.want {
					w.Errorf("%q, %v; want %q", &text, err, x.want)
				}
				w.leave(groups)
			})
		})
	}
}

// TestCheckUnlinked: a comparison that no package makes is refused.
func TestCheckUnlinked(t *testing.T) {
	for _, x := range []struct {
		config      bool
		environment string
	}{{true, ""}, {false, "1"}} {
		t.Setenv(launcher.EnvCheck, x.environment)
		inBubble(t, sim.Config{Devices: 1}, false, func(w *world) {
			cs := w.configs(0, 1)
			cs[0].Check = x.config
			if _, errs := w.join(cs); errs[0] == nil || !strings.Contains(errs[0].Error(), "import runtime/alike") {
				w.Errorf("%+v: %v", x, errs[0])
			}
		})
	}
}
