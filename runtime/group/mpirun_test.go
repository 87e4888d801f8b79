//go:build cgo

package group_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/group"
	"ovgen/runtime/launch"
	"ovgen/runtime/launcher"
	"ovgen/verify/launchtest"
)

// rankMode makes the test binary a rank that does what modes says.
const rankMode = "OVGEN_TEST_MODE"

var modes = map[string]func(rank int, dir string){"joined": joinedRank, "broken": brokenRank, "toy": toyRank,
	"hosts": hostsRank}

func TestMain(m *testing.M) {
	mode, dir, _ := strings.Cut(os.Getenv(rankMode), "|")
	if mode == "" {
		os.Exit(m.Run())
	}
	place, err := launch.FindPlace()
	if err == nil && dir != "" {
		err = launchtest.Note(dir, place)
	}
	if err != nil {
		panic(err)
	}
	modes[mode](place.Rank, dir)
	os.Exit(0)
}

// joinedRank joins as its launcher says and runs a toy.
func joinedRank(int, string) {
	if err := runToy(func(p *toy, ctx context.Context) error { return p.run(ctx) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p, _ := launch.FindPlace()
	fmt.Printf("rank %d of %d by %s\n", p.Rank, p.Size, p.Launcher)
}

// brokenRank is joinedRank, but rank 1 leaves after its first run.
func brokenRank(rank int, _ string) {
	err := runToy(func(p *toy, ctx context.Context) error {
		if err := p.run(ctx); err != nil || rank != 1 {
			return errors.Join(err, p.runs(ctx))
		}
		return errors.New("rank 1 has had enough")
	})
	launch.Report(os.Stderr, err, group.Reports(err, rank))
	os.Exit(1)
}

func runToy(f func(*toy, context.Context) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g, err := group.Join(ctx, group.Config{Timeout: 20 * time.Second})
	if err != nil {
		return err
	}
	p := newToy(g)
	if err := f(p, ctx); err != nil {
		g.Abort(err)
		return errors.Join(err, g.Close(ctx))
	}
	p.close()
	return g.Close(ctx)
}

// mpirun starts copies of this test by Open MPI.
func mpirun(t *testing.T, ranks int, mode string) (out, errs string, err error) {
	t.Helper()
	path, missing := exec.LookPath("mpirun")
	if missing != nil {
		t.Skipf("no mpirun on this machine: %v", missing)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, path, "--allow-run-as-root", "--oversubscribe", "-n", fmt.Sprint(ranks),
		os.Args[0])
	c.Env = append(os.Environ(), rankMode+"="+mode+"|", launcher.EnvDriver+"=sim")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err = c.Run()
	return stdout.String(), stderr.String(), err
}

func TestMpirun(t *testing.T) {
	out, errs, err := mpirun(t, 3, "joined")
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	for r := range 3 {
		if want := fmt.Sprintf("rank %d of 3 by mpirun\n", r); !strings.Contains(out, want) {
			t.Errorf("%q lacks %q", out, want)
		}
	}
}

// TestMpirunFailure: a rank that fails ends the job soon, and its error is reported once.
func TestMpirunFailure(t *testing.T) {
	began := time.Now()
	_, errs, err := mpirun(t, 3, "broken")
	if err == nil {
		t.Error("the job ended well")
	}
	if n := strings.Count(errs, "rank 1 has had enough"); n != 1 {
		t.Errorf("reported %d times:\n%s", n, errs)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the job took %v to end", took)
	}
}
