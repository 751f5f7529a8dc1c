package stream

import (
	"slices"
	"strings"
	"testing"
)

// Names tell processes apart by as little as necessary, and no pid is made up.
func TestAssignNames(t *testing.T) {
	shop := func(instance uint64, host string, pid int) Process {
		return Process{Instance: instance << 32, Service: "shop", Version: "2", Host: host, Pid: pid}
	}
	for _, tt := range []struct {
		name      string
		processes []Process
		want      string // title, words, pid in the output
	}{
		{"one", []Process{shop(0xabcd0001, "", 1)}, "shop 2 · pid 1, shop-1, 1"},
		{"pids", []Process{shop(0xabcd0001, "a", 1), shop(0xabcd0002, "a", 2)}, "shop 2 · a · pid 1, shop-1, 1; shop 2 · a · pid 2, shop-2, 2"},
		{"hosts", []Process{shop(0xabcd0001, "a", 1), shop(0x12340002, "b", 1), shop(0xabce0002, "b", 2)},
			"shop 2 · a · pid 1, shop-a-1, 1 (abcd); shop 2 · b · pid 1, shop-b-1, 1 (1234); shop 2 · b · pid 2, shop-b-2, 2"},
		{"nothing but the instance", []Process{shop(0xabcd0001, "a", 1), shop(0xabcd0102, "a", 1), shop(0x12340000, "a", 2)},
			"shop 2 · a · pid 1 · abcd00, shop-1-abcd00, 1 (abcd00); shop 2 · a · pid 1 · abcd01, shop-1-abcd01, 1 (abcd01); shop 2 · a · pid 2, shop-2, 2"},
		{"nothing", []Process{shop(0xabcd0001, "a", 1), shop(0xabcd0001, "a", 1)},
			"shop 2 · a · pid 1 · abcd000100000000, shop-1-abcd000100000000, 1 (abcd000100000000); shop 2 · a · pid 1 · abcd000100000000, shop-1-abcd000100000000, 1 (abcd000100000000)~2"},
		{"services", []Process{shop(0xabcd0001, "a", 1), {Instance: 7 << 60, Name: "till", Host: "b", Pid: 1}},
			"shop 2 · a · pid 1, shop-1, 1 (abcd); till · b · pid 1, till-1, 1 (7000)"},
		{"profiles", []Process{{Instance: 0xabcd << 48, Name: "shop"}, {Instance: 0xabce << 48, Name: "shop"}},
			"shop, shop-abcd, 0 (abcd); shop, shop-abce, 0 (abce)"},
		{"part of a run", []Process{{Instance: 0xabcd << 48, Name: "shop", Pid: 1, Host: "a", Naming: Naming{HostTells: true, Short: "abcd"}}},
			"shop · a · pid 1 · abcd, shop-a-1-abcd, 1"},
	} {
		AssignNames(tt.processes)
		assignPids(tt.processes)
		var got []string
		for _, p := range tt.processes {
			got = append(got, p.Title()+", "+strings.Join(p.Words(), "-")+", "+p.OutPid)
			if !slices.Contains(p.Names(), p.Title()) || !slices.Contains(p.Names(), strings.Join(p.Words(), "-")) {
				t.Errorf("%s: names %q", tt.name, p.Names())
			}
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
