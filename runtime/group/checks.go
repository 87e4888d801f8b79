package group

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/runtime/fabric"
	"ovgen/runtime/launcher"
)

// protocol is the version of the ranks' messages and of the layouts of page and arena.
const protocol = 1

// identity is a rank's message to the others before anything is shared.
type identity struct {
	Protocol  int
	Host      string // boot id and host name
	Plays     string // Config.Host, where it names a host in place of this machine
	Spans     bool   // Config.Network joins several machines
	Pid       int
	Process   string // an id that no other process has
	Local     bool
	Context   uintptr // of the device, for ranks of one process
	Driver    string  // "cuda", or empty where it is not available
	Why       string  // the reason why the driver is not available
	UUID      driver.UUID
	Device    string // "NVIDIA H200 (device 2)"
	Arena     int64
	Apart     bool
	FallBack  bool
	Symmetric int64
	Check     bool
}

// process tells this process from all others.
var process = rand.Text()

// CheckError reports that the ranks don't fit together. Every rank gets the same error.
type CheckError struct {
	// Check is "host", "protocol", "process", "driver", "device", "peer access", "arena", "fall-back", "words",
	// "operands" or "symmetric memory".
	Check string
	Ranks []int  // the ranks that don't fit
	Text  string // the mistake and its remedy
}

// Error is "check KIND: TEXT".
func (e *CheckError) Error() string { return "check " + e.Check + ": " + e.Text }

// PeerError reports that another rank failed in a step that all ranks take.
type PeerError struct {
	Rank int
	Text string
	Err  error // the kind of error, where known; its text is part of Text
}

// Error is "rank 2: TEXT".
func (e *PeerError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// Unwrap returns Err.
func (e *PeerError) Unwrap() error { return e.Err }

// hostIdentity tells this machine from other machines and, where one plays several hosts, these hosts.
func hostIdentity(plays string) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the host's boot id: %w", err)
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read the host's name: %w", err)
	}
	if plays != "" {
		name += " as " + plays
	}
	return strings.TrimSpace(string(boot)) + " " + name, nil
}

// checkAlike compares every rank's identity with rank 0's.
func checkAlike(all []identity) error {
	first := all[0]
	for r, id := range all {
		pair := []int{0, r}
		switch {
		case id.Protocol != first.Protocol:
			return &CheckError{"protocol", pair, fmt.Sprintf("rank 0 speaks version %d, rank %d version %d "+
				"(run the same binary on all ranks)", first.Protocol, r, id.Protocol)}
		case id.Host != first.Host && !id.Spans && (id.Plays == "" || first.Plays == ""):
			return &CheckError{"host", pair, fmt.Sprintf("rank 0 is on %q, rank %d on %q "+
				"(start all ranks of a group on one machine, in one container; to play several hosts there, set "+
				"%s or Config.Host for each rank; for several machines, set %s)", first.Host, r, id.Host,
				launcher.EnvHost, launcher.EnvAddress)}
		case id.Local && first.Local && id.Process != first.Process:
			return &CheckError{"process", pair,
				fmt.Sprintf("rank 0 is in process %d, rank %d in another, %d, and Config.Local is for ranks of one "+
					"(leave it false)", first.Pid, r, id.Pid)}
		case id.Driver != first.Driver:
			return &CheckError{"driver", pair, fmt.Sprintf("rank 0 runs on %s, rank %d on %s "+
				"(set %s to the same on all ranks)", first.Driver, r, id.Driver, launcher.EnvDriver)}
		}
		for _, x := range []struct {
			check, field string
			first, here  any
		}{
			{"process", "Local", first.Local, id.Local},
			{"arena", "Arena", first.Arena, id.Arena}, {"peer access", "Apart", first.Apart, id.Apart},
			{"symmetric memory", "Symmetric", first.Symmetric, id.Symmetric},
			{"fall-back", "FallBack", first.FallBack, id.FallBack}, {"operands", "Check", first.Check, id.Check},
		} {
			if x.here != x.first {
				return &CheckError{x.check, pair, fmt.Sprintf("rank 0 has Config.%s %v, rank %d %v "+
					"(set it to the same on all ranks)", x.field, x.first, r, x.here)}
			}
		}
		for other := range r {
			if all[other].UUID == id.UUID && all[other].Host == id.Host {
				return &CheckError{"device", []int{other, r}, fmt.Sprintf("ranks %d and %d both run on %s, %x "+
					"(give each rank its own: Config.Devices)", other, r, id.Device, id.UUID)}
			}
		}
	}
	return nil
}

// way is the link that a rank finds to another rank, or the reason why it finds none.
type way struct {
	Link fabric.Link
	Why  string // the reason why the link is not known, or leads nowhere
}

// ways returns the ways from one rank to each rank.
func ways(d driver.Driver, rank int, all []identity) []way {
	list := make([]way, len(all))
	for r, id := range all {
		switch {
		case r == rank:
			list[r].Link = fabric.Self
		case id.Host != all[rank].Host:
			list[r].Link = fabric.Network
		default:
			l, err := fabric.Read(d, id.UUID)
			if list[r].Link = l; err != nil {
				list[r].Why = err.Error()
			} else if l == fabric.None {
				list[r].Why = "the devices have no peer access to each other"
			}
		}
	}
	return list
}

// readFabric reads every rank's ways; err is a *CheckError of the first way that leads nowhere.
func readFabric(all [][]byte) (f fabric.Fabric, err error) {
	for r, blob := range all {
		var list []way
		if err := json.Unmarshal(blob, &list); err != nil || len(list) != len(all) {
			return nil, &PeerError{Rank: r, Text: fmt.Sprintf("it sent no list of its peers (%v)", err)}
		}
		links := make([]fabric.Link, len(list))
		for to, w := range list {
			links[to] = w.Link
			if w.Why != "" && err == nil {
				err = &CheckError{"peer access", []int{r, to}, fmt.Sprintf("rank %d can't map rank %d's memory: %s "+
					"(choose devices joined by NVLink or PCIe peer access, as nvidia-smi topo -p2p r shows, "+
					"or set Config.Apart for plans by NCCL, and by rings where neighbours reach each other)",
					r, to, w.Why)}
			}
		}
		f = append(f, links)
	}
	return f, err
}
