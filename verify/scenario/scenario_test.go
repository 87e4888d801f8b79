package scenario

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launch"
	"ovgen/runtime/launcher"
	"ovgen/verify/sampling"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

var scenarios = slices.Concat(general, of("fused", fused), of("tiles", tiles), of("scatter", scatter),
	of("packets", packets), of("one shot", shot), of("push", push))

// of are the scenarios of a program whose kernels wait: in a graph, and left alone by a peer at any moment. Ranks that
// live join again and run.
func of(name string, p *program) []scenario {
	list := []scenario{
		{name: "in the caller's graph", run: callersGraph, apart: true, clean: true},
		{name: "killed", run: hanging("killed"), apart: true, kills: true},
		{name: "killed in a graph", run: hanging("killed in a graph"), apart: true, kills: true},
		{name: "watched graph", run: hanging("watched graph"), apart: true},
		{name: "killed anywhere", run: killedAnywhere, parted: true, many: 2},
		{name: "killed as it runs", run: killedRunning, parted: true, many: 2},
		{name: "aborted as it runs", run: abortedRunning, apart: true},
		{name: "abort anywhere", run: anywhere, solo: true, many: 4},
	}
	for i := range list {
		list[i].name, list[i].of = name+": "+list[i].name, p
	}
	return list
}

// general are the scenarios of one program, or of programs beside each other.
var general = []scenario{
	{name: "after the caller's work", run: afterTheCaller, clean: true},
	{name: "two streams in turn", run: turningStreams, clean: true},
	{name: "in the caller's graph", run: callersGraph, clean: true},
	{name: "bind again", run: bindAgain, clean: true},
	{name: "bind locally", run: bindLocally, clean: true},
	{name: "bind alone", run: bindAlone},
	{name: "refused memory", run: refused, clean: true},
	{name: "mapped memory", run: mappedMemory, clean: true},
	{name: "killed as it hands files", run: killedHanding, kills: true},
	{name: "fifty plans", run: fiftyPlans, clean: true},
	{name: "two groups side by side", run: sideBySide, clean: true, size: 4},
	{name: "ranks disagree", run: disagree, clean: true},
	{name: "cancelled", run: hanging("cancelled")},
	{name: "deadline", run: hanging("deadline")},
	{name: "eager timeout", run: hanging("eager timeout")},
	{name: "no deadline", run: hanging("no deadline")},
	{name: "watched graph", run: hanging("watched graph")},
	{name: "asked for", run: hanging("asked for")},
	{name: "killed", run: hanging("killed"), kills: true},
	{name: "left", run: hanging("left")},
	{name: "another order of plans", run: otherOrder},
	{name: "2000 runs after a wait", run: manyWaiting},
	{name: "captured through an abort", run: captureThroughAbort},
	{name: "killed anywhere", run: killedAnywhere, parted: true, many: 6},
	{name: "failing calls", run: failing, solo: true, many: 100},
	{name: "abort anywhere", run: anywhere, solo: true, many: 300},
	{name: "abort anywhere in a kernel", run: shotAnywhere, solo: true, many: 300},
	{name: "abort anywhere in two plans of packets", run: packetsAnywhere, solo: true, many: 20},
	{name: "fused: after the caller's work", run: afterTheCaller, of: fused, apart: true, clean: true},
	{name: "fused: bind again", run: bindAgain, of: fused, apart: true, clean: true},
	{name: "tiles: bind again", run: bindAgain, of: tiles, apart: true, clean: true},
	{name: "one shot: after the caller's work", run: afterTheCaller, of: shot, apart: true, clean: true},
	{name: "one shot: bind again", run: bindAgain, of: shot, apart: true, clean: true},
	{name: "packets: bind locally", run: bindLocally, of: packets, apart: true, clean: true},
	{name: "push: bind locally", run: bindLocally, of: push, apart: true, clean: true},
	{name: "collectives", run: collectives, clean: true},
	{name: "abort anywhere in collectives", run: collectivesAnywhere, solo: true, many: 30},
	{name: "abort anywhere over hosts", run: hostsAnywhere, solo: true, size: 6, hosts: 3, many: 6, soaked: 300},
	{name: "late for collectives", run: collectiveLate},
	{name: "killed as it connects", run: killedConnecting, kills: true},
	{name: "killed behind a wait", run: killedAt("behind a wait"), kills: true},
	{name: "killed in a capture", run: killedAt("in a capture"), kills: true},
	{name: "killed with a graph", run: killedAt("with a graph"), kills: true},
	{name: "killed between hosts", run: killedBetweenHosts, kills: true, size: 2, hosts: 2},
	{name: "killed between hosts of two", run: killedBetweenHosts, kills: true, size: 4, hosts: 2, slow: true},
	{name: "killed in collectives", run: collectivesKilled, parted: true, kills: true, many: 2},
	{name: "symmetric memory", run: symmetricMemory, clean: true},
	{name: "killed in symmetric memory", run: symmetricKilled, parted: true, kills: true, many: 2},
	{name: "collectives in a graph through an abort", run: collectiveKept, slow: true},
}

var (
	driverFlag = flag.String("driver", "sim", "of TestProcesses: sim or cuda")
	ranksFlag  = flag.Int("ranks", 3, "of TestProcesses")
	oneFlag    = flag.Bool("oneprocess", false, "TestProcesses with all ranks in one process only")
	apartFlag  = flag.Bool("processes", false, "TestProcesses with a process a rank only")
	seedFlag   = flag.Uint64("seed", 0, "the one seed to run with; 0: several")
)

// soak is whether long tests were asked for.
var soak = sampling.All()

// rankEnv names the scenario and the seed to a rank.
const (
	nameEnv = "OVGEN_SCENARIO"
	seedEnv = "OVGEN_SCENARIO_SEED"
)

// TestMain makes this binary a rank where launch.Command has started it as one.
func TestMain(m *testing.M) {
	flag.Parse()
	if *oneFlag && *apartFlag {
		fmt.Fprintln(os.Stderr, "-oneprocess and -processes leave nothing to run (give one of them)")
		os.Exit(2)
	}
	if !launch.IsRank() || os.Getenv(nameEnv) == "" {
		os.Exit(m.Run())
	}
	if err := runRank(os.Getenv(nameEnv)); err != nil {
		fmt.Println("failed:", err) // not on standard error, which ends with the first failure
		os.Exit(1)
	}
	fmt.Println(succeeded)
	os.Exit(0)
}

// runRank is one process.
func runRank(name string) error {
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
	rank, err := strconv.Atoi(os.Getenv(launcher.EnvRank))
	size, err2 := strconv.Atoi(os.Getenv(launcher.EnvSize))
	seed, err3 := strconv.ParseUint(os.Getenv(seedEnv), 10, 64)
	if err := errors.Join(err, err2, err3); err != nil || i < 0 {
		return fmt.Errorf("start scenario %q: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e := scenarios[i].env(ctx, rank, size, seed)
	e.config = group.Config{Job: os.Getenv(launcher.EnvJob), Arena: arena, Timeout: timeout, Decorate: e.open}
	return scenarios[i].run(e)
}

// arena is enough for the shapes of this package.
const arena = 448 << 10

// TestProcesses runs the scenarios with a process a rank, and with all ranks in this process.
func TestProcesses(t *testing.T) {
	for i, s := range scenarios {
		ranks := *ranksFlag
		if s.size != 0 {
			ranks = s.size
		}
		name := fmt.Sprintf("%s, %d ranks", s.name, ranks)
		t.Run(name, func(t *testing.T) {
			sampling.Test(t, i, 2)
			s.skip(t, false)
			seeds(t, s, ranks, processes)
		})
		t.Run(name+", one process", func(t *testing.T) {
			sampling.Test(t, i+1, 2)
			s.skip(t, true)
			if *driverFlag == "sim" { // which has devices for all
				t.Parallel()
			}
			seeds(t, s, ranks, oneProcess)
		})
	}
}

// skip skips a scenario that processes, or one process, can't run.
func (s scenario) skip(t *testing.T, one bool) {
	switch {
	case s.solo:
		t.Skip("the seeded simulator alone runs it")
	case s.slow && *driverFlag == "sim" && !soak:
		t.Skip("OVGEN_SOAK is not set")
	case s.size/max(s.hosts, 1) > *ranksFlag && *driverFlag == "cuda":
		t.Skipf("it needs %d GPUs, and %d were given", s.size/max(s.hosts, 1), *ranksFlag)
	case !one && *oneFlag:
		t.Skip("ranks in one process were asked for")
	case one && *apartFlag:
		t.Skip("a process a rank was asked for")
	case one && s.apart && !*oneFlag && !soak:
		t.Skip("OVGEN_SOAK is not set")
	case one && (s.kills || s.parted):
		t.Skip("a rank that is killed needs a process of its own")
	}
}

// seeds runs a scenario with each of its seeds.
func seeds(t *testing.T, s scenario, ranks int, run func(t *testing.T, s scenario, ranks int, seed uint64)) {
	n := uint64(1)
	if s.parted {
		n = uint64(s.many)
	}
	for seed := range n {
		if *seedFlag != 0 {
			run(t, s, ranks, *seedFlag)
			break
		}
		run(t, s, ranks, seed+1)
	}
}

// oneProcess runs a scenario once with a goroutine a rank, in real time.
func oneProcess(t *testing.T, s scenario, ranks int, seed uint64) {
	network := store.Memory()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := simtest.Each(ranks, func(r int) error {
		e := s.env(ctx, r, ranks, seed)
		e.config = group.Config{Job: "scenario", Arena: arena, Timeout: timeout, Backend: *driverFlag, Local: true,
			Network: network, Decorate: e.open}
		if err := s.run(e); err != nil {
			return fmt.Errorf("seed %d, rank %d of %d: %w", seed, r, ranks, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// processes runs a scenario once. Each rank that is not killed must say that it
// has succeeded.
func processes(t *testing.T, s scenario, ranks int, seed uint64) {
	var out bytes.Buffer
	l := launch.Command{Ranks: ranks, Hosts: s.hosts, Driver: *driverFlag, Grace: 20 * time.Second, Prefix: true,
		Env: []string{nameEnv + "=" + s.name, seedEnv + "=" + fmt.Sprint(seed)}, Stdout: &out,
		Stderr: t.Output()}
	err := l.Run(t.Context())
	var dead *launch.RankError
	alive := ranks
	if errors.As(err, &dead) && dead.Status == "signal: killed" &&
		(s.parted || s.kills && dead.Rank == 1) {
		err, alive = nil, ranks-1
	}
	if n := strings.Count(out.String(), "] "+succeeded); err != nil || n != alive {
		t.Errorf("seed %d: %d of %d ranks succeeded: %v\n%s", seed, n, alive, err, &out)
	}
}

// succeeded is the line that a rank prints at its end.
const succeeded = "succeeded"

// TestSeeded runs the scenarios in the simulator, in orders picked by seeds. Every second seed has its ranks in
// one process.
func TestSeeded(t *testing.T) {
	for i, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			sampling.Test(t, i, 2)
			if s.parted {
				t.Skip("its ranks need processes of their own")
			}
			if s.apart && !soak {
				t.Skip("OVGEN_SOAK is not set")
			}
			seeds := max(s.many, 3)
			if testing.Short() {
				seeds = min(seeds, 20)
			}
			if soak {
				seeds = cmp.Or(s.soaked, 10*seeds)
			}
			for seed := range uint64(seeds) {
				size := 2 + int(seed)%3
				if s.size != 0 {
					size = s.size
				}
				if *seedFlag == 0 || *seedFlag == seed+1 {
					seeded(t, s, size, seed+1)
				}
			}
		})
	}
}

func seeded(t *testing.T, s scenario, size int, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 9))
		each := size / max(s.hosts, 1)
		node := simtest.NewNode(sim.Config{Devices: size, Seed: seed, Delay: func(sim.Op) time.Duration {
			if random.IntN(16) == 0 {
				return time.Duration(random.IntN(50)) * time.Microsecond
			}
			return 0
		}, PeerAccess: func(from, to int) bool { return from/each == to/each }})
		defer node.Close()
		ranks, err := node.Configs(0, size)
		if err != nil {
			t.Fatal(err)
		}
		err = simtest.Each(size, func(r int) error {
			e := s.env(t.Context(), r, size, seed)
			e.seeded, e.net, e.raw, e.config = true, &wire{Network: node.Network}, ranks[r].Driver, ranks[r]
			e.config.Arena, e.config.Timeout, e.config.Network = arena, timeout, e.net
			e.config.Local = seed%2 == 0 && !s.kills
			if s.hosts > 0 {
				e.config.Host = launcher.PlayedHost(r, size, s.hosts)
			}
			if err := s.run(e); err != nil {
				return fmt.Errorf("seed %d, rank %d of %d: %w", seed, r, size, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if s.clean {
			for _, race := range node.Races() {
				t.Errorf("seed %d: %v", seed, race)
			}
		}
		if t.Failed() {
			for _, line := range node.Waiting() {
				t.Log(line)
			}
		}
	})
}
