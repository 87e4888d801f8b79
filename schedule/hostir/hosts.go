package hostir

import "ovgen/schedule"

// OverHosts reports whether the program is for ranks on several hosts.
func (p *Program) OverHosts() bool { return p.Schedule.OverHosts() }

// HostsOf are the numbers of hosts among which a number of ranks may be divided.
func (p *Program) HostsOf(ranks int) []int { return p.Schedule.HostsOf(ranks) }

// FewestHosts is the least number of hosts above one, or one.
func (p *Program) FewestHosts(ranks int) int { return p.Schedule.FewestHosts(ranks) }

// HostAxis is the first axis of memory that has a part for each host.
var HostAxis = schedule.Dim(schedule.Extent(Hosts.String()))

// OfHosts says that a buffer has a part for each host: its first axis counts the hosts.
func (b Buffer) OfHosts() bool {
	return len(b.Tensor.Axes) > 0 && b.Tensor.Axes[0].Extent == HostAxis.Extent
}

// OnHost is the rank that has the number local on a host.
func OnHost(host, local Expr) Expr { return Add(Mul(host, PerHost), local) }

// Beside is the rank i places further on, on this rank's host.
func Beside(i Expr) Expr { return OnHost(Host, AheadLocal(i)) }

// AheadLocal is the number, on its host, of the rank i places further on.
func AheadLocal(i Expr) Expr { return Mod(Add(Local, i), PerHost) }

// HostAhead is the host i places further on.
func HostAhead(i Expr) Expr { return Mod(Add(Host, i), Hosts) }

// HostBehind is the host i places back.
func HostBehind(i Expr) Expr { return Mod(Sub(Add(Host, Hosts), i), Hosts) }
