package launch

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// Environment variables that a Command sets and group.Join reads. They win over the
// variables of other launchers.
const (
	EnvRank   = "OVGEN_RANK"
	EnvSize   = "OVGEN_SIZE"
	EnvLocal  = "OVGEN_LOCAL_RANK" // ordinal of the rank's device; the rank where nothing says another
	EnvJob    = "OVGEN_JOB"
	EnvDriver = "OVGEN_DRIVER"
	EnvDump   = "OVGEN_DUMP" // what plans write about themselves (see group.Config.Dump)
	EnvHost   = "OVGEN_HOST" // the host that the rank plays (see group.Config.Host)
)

// Environment variables of ranks on several machines, which group.Join reads.
const (
	EnvAddress   = "OVGEN_ADDR"       // host:port of rank 0, at which the ranks meet
	EnvToken     = "OVGEN_TOKEN"      // secret of the ranks, by which they know each other
	EnvTokenFile = "OVGEN_TOKEN_FILE" // file that holds the token
)

// Place is where a launcher has put this process.
type Place struct {
	Launcher   string // ovgen, torchrun, mpirun or srun
	Rank, Size int
	Local      int    // ordinal of the device to take: the rank among the processes of this host
	Job        string // the same for all ranks of one start, and for no other on this host
}

// PlayedHost is the name of the host that a rank plays, as OVGEN_HOST takes it. Each of the hosts has as many of the
// ranks; hosts divides ranks. The name is empty where hosts is 0 or 1.
func PlayedHost(rank, ranks, hosts int) string {
	if hosts < 2 {
		return ""
	}
	return fmt.Sprint("host", rank/(ranks/hosts))
}

// launcher is how one tells its processes their places. Empty names are not set by it.
type launcher struct {
	name        string
	rank, size  string
	local, here string   // rank and number of processes on this host
	job         []string // together they name the start
	// master names the variables of rank 0's host and of a port there that the launcher has taken.
	master [2]string
}

// launchers in the order in which they are looked for: a rank that a launcher has
// started may itself run another.
var launchers = []launcher{
	{"ovgen", EnvRank, EnvSize, EnvLocal, "", []string{EnvJob}, [2]string{}},
	// pytorch.org/docs/stable/elastic/run.html: the port is that of the job's own
	// store, so no two jobs of a host share it.
	{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
		[]string{"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"},
		[2]string{"MASTER_ADDR", "MASTER_PORT"}},
	// Open MPI; the name space is PMIx's.
	{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_LOCAL_SIZE",
		[]string{"PMIX_NAMESPACE"}, [2]string{}},
	// slurm.schedmd.com/srun.html: set in a step only, not in the batch script.
	{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "",
		[]string{"SLURM_JOB_ID", "SLURM_STEP_ID"}, [2]string{}},
}

// IsRank reports whether this process was started as a rank, by a Command or by another
// launcher. The only process of another launcher is not a rank yet: srun -n 1 gives a
// program its place and its GPUs, and the program may start ranks of its own.
func IsRank() bool {
	l, ok := launchedBy()
	return ok && (l.rank == EnvRank || os.Getenv(l.size) != "1")
}

// launchedBy is the launcher whose rank and size are both set.
func launchedBy() (launcher, bool) {
	for _, l := range launchers {
		if os.Getenv(l.rank) != "" && os.Getenv(l.size) != "" {
			return l, true
		}
	}
	return launcher{}, false
}

// FindPlace reads this process's place from the variables of the launcher that started
// it. A process that none has started, or one of a job on several hosts that has no address to meet at, is an error.
func FindPlace() (Place, error) {
	l, ok := launchedBy()
	if !ok {
		return Place{}, fmt.Errorf("find this rank's place: no %s and %s, "+
			"and none of torchrun's, mpirun's or srun's variables "+
			"(start the ranks by launch.Command or a launcher, or set Config.Rank, Size and Job)", EnvRank,
			EnvSize)
	}
	p := Place{Launcher: l.name}
	var err error
	number := func(name string) int {
		n, wrong := strconv.Atoi(os.Getenv(name))
		if (wrong != nil || n < 0) && err == nil {
			err = fmt.Errorf("find this rank's place: %s=%q, as set by %s, is no number of ranks", name,
				os.Getenv(name), l.name)
		}
		return n
	}
	p.Rank, p.Size = number(l.rank), number(l.size)
	p.Local = p.Rank
	for _, name := range []string{l.local, EnvLocal} {
		if os.Getenv(name) != "" {
			p.Local = number(name)
		}
	}
	here := p.Size
	if l.here != "" && os.Getenv(l.here) != "" {
		here = number(l.here)
	}
	if err == nil && p.Rank >= p.Size {
		err = fmt.Errorf("find this rank's place: rank %d of %d, as set by %s", p.Rank, p.Size, l.name)
	}
	if err == nil && here != p.Size && Address() == "" {
		err = fmt.Errorf("find this rank's place: %s runs %d of %d ranks on this host "+
			"(for a group over hosts set %s, and %s, for all ranks; else start one group on each, or set Config.Rank, "+
			"Size and Job)", l.name, here, p.Size, EnvAddress, EnvToken)
	}
	p.Job = l.jobName()
	return p, err
}

// besides is how far a group's port is from the launcher's own.
const besides = 42

// Address is the host and port at which ranks on several hosts meet: OVGEN_ADDR or, where the launcher has put some of
// the ranks elsewhere, a port beside the one that it has taken on the host of rank 0. It is empty where all are here.
func Address() string {
	if address := os.Getenv(EnvAddress); address != "" {
		return address
	}
	l, _ := launchedBy()
	host, port := os.Getenv(l.master[0]), os.Getenv(l.master[1])
	n, err := strconv.Atoi(port)
	if l.here == "" || os.Getenv(l.here) == os.Getenv(l.size) || host == "" || err != nil {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(n+besides))
}

// jobName joins the variables that name the start; OVGEN_JOB replaces them all.
func (l launcher) jobName() string {
	var parts []string
	for _, name := range l.job {
		if v := os.Getenv(name); v != "" {
			parts = append(parts, v)
		}
	}
	if job := os.Getenv(EnvJob); job != "" || len(parts) == 0 {
		return job
	}
	return l.name + "-" + strings.Join(parts, "-")
}
