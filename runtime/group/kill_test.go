//go:build cgo

package group_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launch"
	"ovgen/runtime/launcher"
	"ovgen/verify/launchtest"
)

// toyRank runs a toy until a peer dies, and then a new group of the survivors.
func toyRank(rank int, dir string) {
	first := rank
	say := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(first, name)), []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	must := func(err error) {
		if err != nil {
			say(".error", err.Error())
			os.Exit(1)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g, err := group.Join(ctx, group.Config{Timeout: 20 * time.Second})
	must(err)
	p := newToy(g)
	must(p.run(ctx))
	say(".running", g.Choice())
	err = p.runs(ctx)
	var a *group.AbortError
	if !errors.As(err, &a) || !errors.Is(err, group.ErrPeerGone) {
		must(fmt.Errorf("learn of a dead peer: %w", err))
	}
	say(".aborted", err.Error())
	p.close()
	must(g.Close(ctx))

	var gone *store.GoneError
	if errors.As(err, &gone) && rank > gone.Rank {
		rank--
	}
	g, err = group.Join(ctx, group.Config{Rank: rank, Size: g.Size() - 1, Job: os.Getenv(launcher.EnvJob) + "again"})
	must(err)
	p = newToy(g)
	for range 5 {
		must(p.run(ctx))
	}
	p.close()
	must(g.Close(ctx))
	say(".again", "")
}

// TestKilledRank kills one of four processes while they run; the survivors learn
// it, and join again.
func TestKilledRank(t *testing.T) {
	for victim := range 2 {
		t.Run(fmt.Sprint("rank ", victim), func(t *testing.T) {
			dir := t.TempDir()
			done := make(chan error)
			go func() {
				l := launch.Command{Ranks: 4, Env: []string{rankMode + "=toy|" + dir}, Driver: "sim",
					Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Grace: 30 * time.Second}
				done <- l.Run(t.Context())
			}()
			pids := launchtest.Pids(t, dir, 4)
			wait := func(name string, within time.Duration, ranks ...int) {
				t.Helper()
				for end := time.Now().Add(within); len(ranks) > 0; time.Sleep(5 * time.Millisecond) {
					if _, err := os.Stat(filepath.Join(dir,
						fmt.Sprint(ranks[0], name))); err == nil {
						ranks = ranks[1:]
					} else if time.Now().After(end) {
						text, _ := os.ReadFile(filepath.Join(dir,
							fmt.Sprint(ranks[0], ".error")))
						t.Fatalf("ranks %v: no %s within %v: %s", ranks, name, within, text)
					}
				}
			}
			wait(".running", 20*time.Second, 0, 1, 2, 3)
			time.Sleep(time.Duration(victim*7) * time.Millisecond)
			if err := syscall.Kill(pids[victim], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			var others []int
			for r := range 4 {
				if r != victim {
					others = append(others, r)
				}
			}
			wait(".aborted", 5*time.Second, others...)
			for _, r := range others {
				text, _ := os.ReadFile(filepath.Join(dir, fmt.Sprint(r, ".aborted")))
				if !strings.Contains(string(text), fmt.Sprintf("rank %d is gone", victim)) {
					t.Errorf("rank %d: %s", r, text)
				}
			}
			wait(".again", 20*time.Second, others...)
			var e *launch.RankError
			if err := <-done; !errors.As(err, &e) || e.Rank != victim || e.Status != "signal: killed" {
				t.Error(err)
			}
			nothingLeft(t, dir, pids)
		})
	}
}

// nothingLeft looks for processes and sockets of the ranks that noted themselves.
func nothingLeft(t *testing.T, dir string, pids []int) {
	t.Helper()
	launchtest.Ended(t, pids, 0)
	sockets, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sockets, []byte(launchtest.Job(t, dir))) {
		t.Error("a socket of the job is left")
	}
}

func TestChoice(t *testing.T) {
	for _, x := range []struct {
		backend, devices string
		want             string // of the choice, or of the error
		fails            bool
	}{
		{"sim", "2", "sim (asked for)", false},
		{"auto", "2", "sim (auto: ", false},
		{"", "2", "OVGEN_DRIVER=sim, or Config.Backend, runs it in the simulator", true}, // never in silence
		{"sim", "1", "sim has 1 devices, 2 are needed", true},
		{"nosuch", "2", `look up driver "nosuch"`, true},
	} {
		if b, err := driver.Lookup("cuda"); err == nil && (x.backend == "auto" || x.backend == "") {
			if n, err := b.Count(); err == nil && n >= 2 {
				continue // a machine with GPUs
			}
		}
		t.Setenv("OVGEN_SIM_DEVICES", x.devices)
		t.Setenv(launcher.EnvDriver, "")
		each(2, func(r int) {
			g, err := group.Join(t.Context(),
				group.Config{Rank: r, Size: 2, Job: fmt.Sprint(os.Getpid(), "choice"), Local: true,
					Backend: x.backend, Timeout: 5 * time.Second})
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				text = g.Choice()
				if err := g.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if (err != nil) != x.fails || !strings.Contains(text, x.want) {
				t.Errorf("%s with %s devices: %s, want %s", x.backend, x.devices, text, x.want)
			}
		})
	}
}
