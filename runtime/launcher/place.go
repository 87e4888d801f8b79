package launcher

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// Environment variables that a launch.Command sets and group.Join reads. They win over the
// variables of other launchers.
const (
	EnvRank   = "OVGEN_RANK"
	EnvSize   = "OVGEN_SIZE"
	EnvLocal  = "OVGEN_LOCAL_RANK" // ordinal of the rank's device; by default the rank
	EnvJob    = "OVGEN_JOB"
	EnvDriver = "OVGEN_DRIVER"
	EnvDump   = "OVGEN_DUMP"  // a dump of each plan (see group.Config.Dump)
	EnvCheck  = "OVGEN_CHECK" // not empty: operands are compared over ranks (see group.Config.Check)
	EnvHost   = "OVGEN_HOST"  // the host that the rank plays (see group.Config.Host)
)

// Environment variables of ranks on several machines, which group.Join reads.
const (
	EnvAddress   = "OVGEN_ADDR"       // host:port of rank 0, where the ranks meet
	EnvToken     = "OVGEN_TOKEN"      // secret by which the ranks know each other
	EnvTokenFile = "OVGEN_TOKEN_FILE" // file that holds the token
)

// Place is this process's place among the ranks that a launcher has started.
type Place struct {
	Launcher   string // ovgen, torchrun, mpirun or srun
	Rank, Size int
	Local      int    // ordinal of the device to take: the rank among the processes of this host
	Job        string // the same for all ranks of one start, and for no other on this host
}

// PlayedHost is the name of the host that a rank plays, as OVGEN_HOST takes it. All hosts have equally many ranks:
// hosts divides ranks. The name is empty where hosts is 0 or 1.
func PlayedHost(rank, ranks, hosts int) string {
	if hosts < 2 {
		return ""
	}
	return fmt.Sprint("host", rank/(ranks/hosts))
}

// launcher has the variables by which a launcher tells processes their places. It sets none where a name is empty.
type launcher struct {
	name        string
	rank, size  string
	local, here string   // rank and number of processes on this host
	job         []string // together these variables name the start
	nodes, list string   // the number of hosts, and their names
}

// Variables of rank 0's host, and of a port there that is in use. torchrun sets them, and others by custom.
const (
	masterAddress = "MASTER_ADDR"
	masterPort    = "MASTER_PORT"
)

// launchers are in the order in which launchedBy looks for them: a rank that one launcher has started may run another.
var launchers = []launcher{
	{name: "ovgen", rank: EnvRank, size: EnvSize, local: EnvLocal, job: []string{EnvJob}},
	// pytorch.org/docs/stable/elastic/run.html: the job's store listens at the port, so no two jobs of a host share it.
	{name: "torchrun", rank: "RANK", size: "WORLD_SIZE", local: "LOCAL_RANK", here: "LOCAL_WORLD_SIZE",
		job: []string{"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", masterAddress, masterPort}},
	// Open MPI; the name space is PMIx's.
	{name: "mpirun", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE", local: "OMPI_COMM_WORLD_LOCAL_RANK",
		here: "OMPI_COMM_WORLD_LOCAL_SIZE", job: []string{"PMIX_NAMESPACE"}},
	// slurm.schedmd.com/srun.html: set in a step only, not in the batch script.
	{name: "srun", rank: "SLURM_PROCID", size: "SLURM_STEP_NUM_TASKS", local: "SLURM_LOCALID",
		job: []string{slurmJob, slurmStep}, nodes: "SLURM_STEP_NUM_NODES", list: "SLURM_STEP_NODELIST"},
}

// IsRank reports whether a Command or another launcher has started this process as a rank. A single process of another
// launcher is not a rank yet: srun -n 1 gives a program its place and its GPUs, and the program may start ranks itself.
func IsRank() bool {
	l, ok := launchedBy()
	return ok && (l.rank == EnvRank || os.Getenv(l.size) != "1")
}

// launchedBy finds the first launcher that has set both its rank and its size.
func launchedBy() (launcher, bool) {
	for _, l := range launchers {
		if os.Getenv(l.rank) != "" && os.Getenv(l.size) != "" {
			return l, true
		}
	}
	return launcher{}, false
}

// FindPlace reads this process's place from the variables of the launcher that started it. It returns an error if no
// launcher has started the process, or if the job is on several hosts and has no address to meet at.
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
	if l.here != "" && os.Getenv(l.here) != "" {
		number(l.here)
	}
	if err == nil && p.Rank >= p.Size {
		err = fmt.Errorf("find this rank's place: rank %d of %d, as set by %s", p.Rank, p.Size, l.name)
	}
	if err == nil && l.spread() && Address() == "" {
		err = fmt.Errorf("find this rank's place: %s runs some of the %d ranks on other hosts "+
			"(for a group over hosts set %s, or %s and %s, and %s, for all ranks; else start one group on each, or "+
			"set Config.Rank, Size and Job)", l.name, p.Size, EnvAddress, masterAddress, masterPort, EnvToken)
	}
	p.Job = l.jobName()
	return p, err
}

// besides is the distance from the launcher's port to the group's.
const besides = 42

// Address is the host and port where ranks on several hosts meet. It is OVGEN_ADDR or, if the launcher has put some of
// the ranks on other hosts, MASTER_ADDR with a port near MASTER_PORT. If these are not set under srun, it is the first
// host of the step, and a port that follows from the job's number. It is empty if all ranks are on this host.
func Address() string {
	if address := os.Getenv(EnvAddress); address != "" {
		return address
	}
	l, _ := launchedBy()
	if !l.spread() {
		return ""
	}
	host, port := os.Getenv(masterAddress), os.Getenv(masterPort)
	if host == "" {
		host = firstNode(os.Getenv(l.list))
	}
	if port == "" && l.list != "" {
		port = slurmPort()
	}
	n, err := strconv.Atoi(port)
	if host == "" || err != nil {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(n+besides))
}

// spread reports whether the launcher says that some ranks are on other hosts.
func (l launcher) spread() bool {
	here, nodes := os.Getenv(l.here), os.Getenv(l.nodes)
	return here != "" && here != os.Getenv(l.size) || nodes != "" && nodes != "1"
}

// jobName joins the variables that name the start; OVGEN_JOB replaces all of them.
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
