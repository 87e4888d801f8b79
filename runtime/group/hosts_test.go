//go:build cgo

package group_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/group"
	"ovgen/runtime/launch"
	"ovgen/runtime/launcher"
	"ovgen/verify/sim"
)

// hostsRank joins, and says what it learns of an abort by the last rank.
func hostsRank(rank int, dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g, err := group.Join(ctx, group.Config{Timeout: 20 * time.Second})
	if err == nil {
		if _, err = g.Gather(ctx, "meet", nil); g.Err() != nil { // the abort may come before what all have brought
			err = nil
		}
	}
	if err == nil && rank == g.Size()-1 {
		g.Abort(errors.New("the last rank has had enough"))
	}
	if err == nil {
		<-g.Done()
		err = errors.Join(fmt.Errorf("%d hosts of %d: %w", g.Hosts(), g.PerHost(), g.Err()), g.Close(ctx))
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(rank, ".error")), []byte(err.Error()), 0o600); err != nil {
		panic(err)
	}
}

// Processes that play two hosts meet at an address by their token, and an abort on one host ends the ranks of both.
func TestHostsMeet(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	secret := filepath.Join(dir, "token")
	if err := os.WriteFile(secret, []byte("a token that nobody else has\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ranks := launch.Command{Ranks: 4, Hosts: 2, Driver: "sim", Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer),
		Env: []string{rankMode + "=hosts|" + dir, launcher.EnvAddress + "=" + address,
			launcher.EnvTokenFile + "=" + secret}}
	if err := ranks.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for r := range 4 {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(r, ".error")))
		if want := "2 hosts of 2: rank 3 aborted the group: the last rank has had enough"; err != nil ||
			!strings.HasPrefix(string(text), want) {
			t.Errorf("rank %d: %s, %v", r, text, err)
		}
	}
}

// A rank that is to meet others at an address, and has no token for it, can't join.
func TestNoToken(t *testing.T) {
	t.Setenv(launcher.EnvAddress, "127.0.0.1:28410")
	t.Setenv(launcher.EnvToken, "")
	for _, x := range []struct{ file, want string }{
		{"", "a token of 0 bytes"}, {"/no/file", "read the token of OVGEN_TOKEN_FILE"},
	} {
		t.Setenv(launcher.EnvTokenFile, x.file)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nobody is there to be told
		_, err := group.Join(ctx, group.Config{Rank: 1, Size: 2, Job: "j", Backend: "sim"})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

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
