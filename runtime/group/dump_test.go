//go:build cgo

package group_test

import (
	"strings"
	"testing"

	"ovgen/runtime/group"
	"ovgen/runtime/launch"
	"ovgen/verify/sim"
)

// TestDumpWords: the Config's words win over the environment's, and what nobody knows is refused by its name.
func TestDumpWords(t *testing.T) {
	for _, x := range []struct {
		config, environment string
		want                group.Dumps
		err                 string
	}{
		{},
		{config: "host", want: group.Dumps{Host: true}},
		{environment: "ops, plans,json", want: group.Dumps{Ops: true, Plans: true, JSON: true}},
		{config: "plans", environment: "nonsense", want: group.Dumps{Plans: true}},
		{environment: "host,hots", err: `OVGEN_DUMP has the word "hots" (host, ops, plans and json are known)`},
		{config: "host,", err: `OVGEN_DUMP has the word ""`},
		{environment: "json", err: `OVGEN_DUMP is "json", and json alone asks for nothing (add host, ops or plans)`},
	} {
		t.Run(x.config+"/"+x.environment, func(t *testing.T) {
			t.Setenv(launch.EnvDump, x.environment)
			inBubble(t, sim.Config{Devices: 1}, false, func(w *world) {
				cs := w.configs(0, 1)
				cs[0].Dump = x.config
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
				d := groups[0].Dumps()
				if got := (group.Dumps{Host: d.Host, Ops: d.Ops, Plans: d.Plans, JSON: d.JSON}); got != x.want {
					w.Errorf("%+v, want %+v", got, x.want)
				}
				w.leave(groups)
			})
		})
	}
}
