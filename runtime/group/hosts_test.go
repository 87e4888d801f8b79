//go:build cgo

package group_test

import (
	"errors"
	"strings"
	"testing"

	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// Ranks that can't be numbered host by host, as many on each, are refused on all of them.
func TestHostsRefused(t *testing.T) {
	for _, x := range []struct{ name, hosts, want string }{
		{"in turn", "abab", "number the ranks host by host"},
		{"one more on the first", "aab", "start as many on each host"},
		{"one more on the last", "abb", "start as many on each host"},
		{"one that plays none", "ab-", "to play several hosts there, set OVGEN_HOST or Config.Host"},
	} {
		t.Run(x.name, func(t *testing.T) {
			inBubble(t, sim.Config{Devices: 4}, false, func(w *world) {
				cs := w.configs(0, len(x.hosts))
				for r := range cs {
					cs[r].Host = strings.Trim(x.hosts[r:r+1], "-")
				}
				groups, errs := w.join(cs)
				for r, err := range errs {
					var refused *group.CheckError
					if !errors.As(err, &refused) || refused.Check != "host" || !strings.Contains(err.Error(), x.want) {
						t.Errorf("rank %d: %v, %v", r, groups[r], err)
					}
				}
			})
		})
	}
}
