package launcher

import (
	"strings"
	"testing"
)

func TestFindPlace(t *testing.T) {
	torch := map[string]string{"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2",
		"TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "0", "MASTER_ADDR": "127.0.0.1",
		"MASTER_PORT": "29500"}
	mpi := map[string]string{"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4",
		"OMPI_COMM_WORLD_LOCAL_RANK": "2",
		"OMPI_COMM_WORLD_LOCAL_SIZE": "4", "PMIX_NAMESPACE": "prterun-host-77@1"}
	slurm := map[string]string{"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "3",
		"SLURM_JOB_ID": "9", "SLURM_STEP_ID": "0"}
	own := map[string]string{EnvRank: "0", EnvSize: "2", EnvJob: "mine"}
	for name, x := range map[string]struct {
		env  []map[string]string
		want Place
	}{
		"torchrun": {[]map[string]string{torch},
			Place{"torchrun", 1, 2, 1, "torchrun-none-0-127.0.0.1-29500"}},
		"mpirun":   {[]map[string]string{mpi}, Place{"mpirun", 2, 4, 2, "mpirun-prterun-host-77@1"}},
		"srun":     {[]map[string]string{slurm}, Place{"srun", 3, 4, 3, "srun-9-0"}},
		"own":      {[]map[string]string{own}, Place{"ovgen", 0, 2, 0, "mine"}},
		"own wins": {[]map[string]string{torch, mpi, slurm, own}, Place{"ovgen", 0, 2, 0, "mine"}},
		"torchrun in a step": {[]map[string]string{slurm, torch},
			Place{"torchrun", 1, 2, 1, "torchrun-none-0-127.0.0.1-29500"}},
		"a job of our name": {[]map[string]string{mpi, {EnvJob: "mine"}}, Place{"mpirun", 2, 4, 2, "mine"}},
		"another device":    {[]map[string]string{own, {EnvLocal: "3"}}, Place{"ovgen", 0, 2, 3, "mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			setPlace(t, x.env...)
			got, err := FindPlace()
			if err != nil || got != x.want {
				t.Errorf("%+v, %v; want %+v", got, err, x.want)
			}
			if !IsRank() {
				t.Error("not a rank")
			}
		})
	}
}

// TestAlone: a launcher's only process starts ranks of its own.
func TestAlone(t *testing.T) {
	alone := map[string]string{"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_JOB_ID": "9",
		"SLURM_STEP_ID": "0"}
	setPlace(t, alone)
	if p, err := FindPlace(); IsRank() || err != nil || p.Size != 1 {
		t.Errorf("a rank: %v, %+v, %v", IsRank(), p, err)
	}
	setPlace(t, alone, map[string]string{EnvRank: "0", EnvSize: "1", EnvJob: "mine"})
	if !IsRank() {
		t.Error("a rank of our own that is alone is not taken for a rank")
	}
}

func TestFindPlaceRefuses(t *testing.T) {
	for name, x := range map[string]struct {
		env  map[string]string
		want string
	}{
		"nobody":         {nil, "start the ranks by"},
		"a batch script": {map[string]string{"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, "start the ranks by"},
		"no number":      {map[string]string{EnvRank: "x", EnvSize: "2"}, `OVGEN_RANK="x"`},
		"negative":       {map[string]string{EnvRank: "-1", EnvSize: "2"}, `OVGEN_RANK="-1"`},
		"outside":        {map[string]string{EnvRank: "2", EnvSize: "2"}, "rank 2 of 2"},
		"two hosts": {map[string]string{"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1",
			"LOCAL_WORLD_SIZE": "4"}, "torchrun runs some of the 8 ranks on other hosts"},
		"two hosts by mpirun": {map[string]string{"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8",
			"OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, "set OVGEN_ADDR, or MASTER_ADDR"},
	} {
		t.Run(name, func(t *testing.T) {
			setPlace(t, x.env)
			if _, err := FindPlace(); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %q", err, x.want)
			}
		})
	}
}

// Ranks on several machines have a place where they know where to meet.
func TestFindPlaceOverHosts(t *testing.T) {
	torchrun := map[string]string{"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}
	mpirun := map[string]string{"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8",
		"OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}
	srun := map[string]string{"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "SLURM_LOCALID": "1",
		"SLURM_JOB_ID": "123456", "SLURM_STEP_ID": "2", "SLURM_STEP_NUM_NODES": "2",
		"SLURM_STEP_NODELIST": "gpu[01-02]"}
	master := map[string]string{"MASTER_ADDR": "node0", "MASTER_PORT": "29500"}
	for _, x := range []struct {
		launcher map[string]string
		env      []map[string]string
		want     string
	}{
		{torchrun, []map[string]string{{EnvAddress: "a:1"}}, "a:1"},
		{torchrun, []map[string]string{master}, "node0:29542"},
		{torchrun, []map[string]string{master, {EnvAddress: "a:1"}}, "a:1"},
		{torchrun, []map[string]string{master, {"LOCAL_WORLD_SIZE": "8"}}, ""},
		{mpirun, []map[string]string{master}, "node0:29542"},
		{srun, nil, "gpu01:23500"},
		{srun, []map[string]string{{"MASTER_ADDR": "node0"}}, "node0:23500"},
		{srun, []map[string]string{master}, "node0:29542"},
		{srun, []map[string]string{{"SLURM_STEP_NUM_NODES": "1"}}, ""},
	} {
		t.Run(x.want, func(t *testing.T) {
			setPlace(t, append([]map[string]string{x.launcher}, x.env...)...)
			p, err := FindPlace()
			if at := Address(); err != nil || p.Rank != 5 || p.Local != 1 || p.Size != 8 || at != x.want {
				t.Errorf("%+v at %q, %v", p, at, err)
			}
		})
	}
}

// The first host of each list of Slurm's.
func TestFirstNode(t *testing.T) {
	for list, want := range map[string]string{"": "", "a": "a", "a,b": "a", "a[01-03,7],b2": "a01",
		"r[2,4]n[11-12]": "r2n11", "gpu-[3]-x,b": "gpu-3-x"} {
		if got := firstNode(list); got != want {
			t.Errorf("%s: %q, want %q", list, got, want)
		}
	}
}

// The hosts that ranks play.
func TestPlayedHost(t *testing.T) {
	for _, x := range []struct {
		rank, ranks, hosts int
		want               string
	}{{0, 4, 0, ""}, {3, 4, 1, ""}, {1, 4, 2, "host0"}, {2, 4, 2, "host1"}, {5, 6, 3, "host2"}} {
		if got := PlayedHost(x.rank, x.ranks, x.hosts); got != x.want {
			t.Errorf("rank %d of %d on %d: %q, want %q", x.rank, x.ranks, x.hosts, got, x.want)
		}
	}
}

// setPlace sets these variables and none else that a launcher would.
func setPlace(t *testing.T, env ...map[string]string) {
	for _, name := range []string{EnvAddress, masterAddress, masterPort} {
		t.Setenv(name, "")
	}
	for _, l := range launchers {
		for _, name := range append([]string{l.rank, l.size, l.local, l.here, l.nodes, l.list}, l.job...) {
			if name != "" {
				t.Setenv(name, "")
			}
		}
	}
	for _, e := range env {
		for name, v := range e {
			t.Setenv(name, v)
		}
	}
}
