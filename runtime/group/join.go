package group

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"ovgen/runtime/driver"
	"ovgen/runtime/group/store"
	"ovgen/runtime/ipc"
	"ovgen/runtime/launcher"
)

// Join makes its caller a rank of the job that c names: this process or, with Config.Local, a goroutine of it. It is
// collective. It returns when all ranks have come, have checked each other and have mapped each other's arena;
// otherwise every rank gets an error, and nothing stays open. Errors wrap *store.RendezvousError, *store.RefusedError,
// *CheckError, *PeerError or *ProbeError, or driver.ErrUnavailable where this machine or build has no driver that
// serves the group, or is not for Linux. Join refuses a Config that is wrong by itself before the rendezvous, and the
// peers that come within a second get an error.
func Join(ctx context.Context, c Config) (*Group, error) {
	if err := launcher.Supported(); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	c, err := c.resolve()
	meeting := store.Config{Job: c.Job, Rank: c.Rank, Size: c.Size, Timeout: c.JoinTimeout, Network: c.Network}
	if err != nil {
		store.Decline(ctx, meeting, err.Error())
		return nil, fmt.Errorf("join: %w", err)
	}
	client, err := store.Join(ctx, meeting)
	if declined := (*store.DeclinedError)(nil); errors.As(err, &declined) {
		return nil, fmt.Errorf("join job %q: %w", c.Job,
			&PeerError{Rank: declined.Rank, Text: "join: " + declined.Reason, Err: declined})
	} else if err != nil {
		return nil, err
	}
	g := &Group{config: c, client: client,
		pool: pool{making: make(chan struct{}, 1)}, runs: runs{issue: make(chan struct{}, 1)},
		watch:      watch{wake: make(chan struct{}, 1), stop: make(chan struct{})},
		collective: make(chan struct{}, 1), done: make(chan struct{})}
	if err := g.assemble(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("join job %q: %w", c.Job, err), g.teardown())
	}
	client.Bound(c.CallTimeout)
	g.watch.wg.Go(g.observe)
	if err := g.makeSymmetric(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("join job %q: %w", c.Job, err), g.Close(ctx))
	}
	return g, nil
}

// assemble takes the steps of Join. After each step all ranks agree that it succeeded, so that every rank learns why a
// step of another rank failed.
func (g *Group) assemble(ctx context.Context) error {
	if err := g.chooseDriver(ctx); err != nil {
		return err
	}
	if err := g.makePage(ctx); err != nil {
		return err
	}
	if err := g.makeArena(ctx); err != nil {
		return err
	}
	_, err := g.agree(ctx, "make streams", nil, g.makeStreams())
	return err
}

// agree is a gather of Join that carries a failure: if any rank has one, all do.
func (g *Group) agree(ctx context.Context, what string, blob []byte, err error) ([][]byte, error) {
	return agreed(what, blob, err, func(mine []byte) ([][]byte, error) { return g.client.Gather(ctx, what, mine) })
}

// agreed is a gather that carries a failure: if any rank has one, all do.
func agreed(what string, blob []byte, err error, gather ipc.Gather) ([][]byte, error) {
	message := append([]byte{0}, blob...)
	if err != nil {
		message = append([]byte{1}, err.Error()...)
	}
	all, gathered := gather(message)
	if gathered != nil {
		return nil, errors.Join(err, gathered)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	for r, m := range all {
		if len(m) == 0 || m[0] != 0 {
			return nil, fmt.Errorf("%s: %w", what, &PeerError{Rank: r, Text: string(m[min(1, len(m)):])})
		}
		all[r] = m[1:]
	}
	return all, nil
}

// chooseDriver opens the first candidate that serves all ranks.
func (g *Group) chooseDriver(ctx context.Context) error {
	candidates := g.config.candidates()
	var refused []string
	for i, name := range candidates {
		why, err := g.tryDriver(ctx, name)
		if err != nil && why == "" {
			return err
		}
		if err == nil {
			g.choice = g.config.choiceText(name, refused) + g.choice
			return nil
		}
		if i == len(candidates)-1 {
			if len(refused) > 0 {
				return fmt.Errorf("choose a driver: no %s (%s); %w", candidates[0], refused[0], err)
			}
			return fmt.Errorf("choose a driver: %w%s", err, simulated(name, err))
		}
		refused = append(refused, why)
	}
	return nil
}

// simulated is the advice to run in the simulator, where there are no GPUs and the binary has the simulator.
func simulated(name string, err error) string {
	if _, missing := driver.Lookup("sim"); name != "cuda" || missing != nil ||
		!errors.Is(err, driver.ErrUnavailable) {
		return ""
	}
	return fmt.Sprintf(" (%s=sim, or Config.Backend, runs it in the simulator)", launcher.EnvDriver)
}

// tryDriver opens this rank's device and compares it with the other ranks' devices. Where another driver may serve, why
// is set, to the same text on all ranks.
func (g *Group) tryDriver(ctx context.Context, name string) (why string, err error) {
	d, err := g.config.openDriver(name)
	g.drv, g.owned = d, d != nil && g.config.Driver == nil
	id := identity{Protocol: protocol, Pid: os.Getpid(), Process: process, Local: g.config.Local,
		Arena: g.config.Arena, Apart: g.config.Apart, FallBack: g.config.FallBack, Driver: name, Plays: g.config.Host,
		Spans: store.Spans(g.config.Network), Symmetric: g.config.Symmetric, Check: g.config.Check}
	unavailable := errors.Is(err, driver.ErrUnavailable)
	if unavailable {
		id.Driver, id.Why, err = "", err.Error(), nil
	} else if err == nil {
		p := d.Properties()
		id.UUID, id.Context = p.UUID, d.Context()
		id.Device = fmt.Sprintf("%s (device %d)", p.Name, p.Ordinal)
		id.Host, err = hostIdentity(g.config.Host)
	}
	blob, _ := json.Marshal(id)
	blobs, err := g.agree(ctx, "open device", blob, err)
	if err != nil {
		return "", err
	}
	all := make([]identity, len(blobs))
	for r, b := range blobs {
		if err := json.Unmarshal(b, &all[r]); err != nil {
			return "", &PeerError{Rank: r, Text: fmt.Sprintf("it sent no identity: %v", err)}
		}
	}
	for r, other := range all {
		if other.Why != "" {
			return other.Why, errors.Join(&PeerError{Rank: r, Text: other.Why, Err: driver.ErrUnavailable},
				g.closeDriver())
		}
		g.pids = append(g.pids[:r], other.Pid)
	}
	if err := checkAlike(all); err != nil {
		return "", err
	}
	if g.place, err = places(all, g.Rank()); err != nil {
		return "", err
	}
	blob, _ = json.Marshal(ways(d, g.Rank(), all))
	if blobs, err = g.agree(ctx, "look at the links", blob, nil); err != nil {
		return "", err
	}
	g.fabric, err = readFabric(blobs)
	var unreached *CheckError
	switch {
	case errors.As(err, &unreached) && g.config.Apart:
		g.apart = true
		err = nil
	case err != nil:
		return err.Error(), errors.Join(err, g.closeDriver())
	}
	g.choice = g.links(unreached)
	return "", nil
}

// closeDriver closes the device if Join opened it.
func (g *Group) closeDriver() error {
	if g.drv == nil || !g.owned {
		return nil
	}
	return g.drv.Close()
}

// makePage maps the page of the host's first rank on every rank.
func (g *Group) makePage(ctx context.Context) error {
	var path []byte
	var err error
	if g.Local() == 0 {
		f, failed := newPage(g.Size())
		if err = failed; err == nil {
			defer f.Close()
			path = fmt.Appendf(nil, "/proc/%d/fd/%d", os.Getpid(), f.Fd())
		}
	}
	blobs, err := g.agree(ctx, "make the shared page", path, err)
	if err != nil {
		return err
	}
	g.page, err = mapPage(string(blobs[g.Host()*g.PerHost()]), g.Rank(), g.Size(), g.PerHost(), g.drv)
	_, err = g.agree(ctx, "map the shared page", nil, err)
	return err
}

// makeArena allocates this rank's arena, zeroes its words, and maps the peers'.
func (g *Group) makeArena(ctx context.Context) error {
	if g.imports = ipc.New(g.drv, g.Rank()); g.config.Local {
		g.imports = ipc.NewLocal(g.drv, g.Rank())
	}
	g.imports.Reach(g.Reaches)
	g.imports.Carry(carrier{g})
	a := &Arena{bytes: g.config.Arena, rank: g.Rank(), bases: make([]driver.Ptr, g.Size())}
	g.arena = a
	export, err := g.exportArena()
	alone := g.apart && !g.Ring() // each rank keeps an arena that no peer maps
	if err == nil && alone {
		err = export.Close()
	}
	if err != nil || alone {
		_, err = g.agree(ctx, "exchange arenas", nil, err)
		return err
	}
	a.export = export
	var agreed error
	a.peers, err = g.imports.Exchange(func(mine []byte) (all [][]byte, err error) {
		all, agreed = g.agree(ctx, "exchange arenas", mine, nil)
		return all, agreed
	}, []*ipc.Export{export})
	if agreed != nil {
		return agreed
	}
	if err == nil {
		for r, peer := range a.peers {
			if r != g.Rank() && g.Reaches(r) {
				a.bases[r] = peer[0].Ptr()
			}
		}
	}
	_, err = g.agree(ctx, "map the peers' arenas", nil, err)
	return err
}

func (g *Group) exportArena() (*ipc.Export, error) {
	p, err := g.Driver().MemAlloc(g.config.Arena)
	if err != nil {
		return nil, fmt.Errorf("allocate the arena of %d bytes: %w", g.config.Arena, err)
	}
	g.arena.bases[g.Rank()] = p
	if g.abort.stream, err = g.drv.StreamCreateWithPriority(driver.High); err != nil {
		return nil, fmt.Errorf("make the abort stream: %w", err)
	}
	if err := g.drv.MemsetD32Async(p, 0, stagingOf(g.config.Arena)/4, g.abort.stream); err != nil {
		return nil, fmt.Errorf("zero the arena's words: %w", err)
	}
	if err := g.drv.StreamSynchronize(g.abort.stream); err != nil {
		return nil, fmt.Errorf("zero the arena's words: %w", err)
	}
	return g.imports.Export(p, g.config.Arena)
}

// makeStreams makes the group's streams and events, and tries the release of an abort once.
func (g *Group) makeStreams() (err error) {
	if g.runs.side, err = g.drv.StreamCreateWithPriority(driver.Normal); err != nil {
		return fmt.Errorf("make a stream: %w", err)
	}
	for i := range g.runs.events {
		if g.runs.events[i], err = g.drv.EventCreate(false); err != nil {
			return fmt.Errorf("make an event: %w", err)
		}
	}
	return g.probe(g.runs.side)
}
