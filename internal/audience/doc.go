// Package audience estimates the number of readers of a feed.
//
// A server sees requests, not readers. [Report] therefore gives one total together with its parts,
// each counted in its own way.
//
//   - Services that fetch for many subscribers declare their number in the User-Agent.
//     Each service counts once, with its newest number.
//   - Programs of one person are counted by address and name. Two people with the same
//     program behind one address count as one.
//   - Push subscribers count if they are neither of these: a callback at the address or
//     site of a counted client does not count again.
//   - Readers of private feeds count if their secret was used.
//
// Browsers and robots are listed but not counted.
//
// No client address is stored. A keyed hash distinguishes clients, and is deleted with the client's
// row after [Window]. Start with [Audience] and its Hit and Report.
package audience
