// Package audience estimates the number of readers of a feed.
//
// A server sees requests, not readers. [Report] therefore gives one total and its parts. Each part
// is counted by its own rule:
//
//   - Services that fetch for many subscribers declare their number in the User-Agent.
//     Each service counts once, with its newest number.
//   - Programs of one person are distinguished by address and name. Two people with the same
//     program behind one address count as one reader.
//   - A push subscriber counts unless a counted service or program has the same address or
//     site as the callback.
//   - A reader of a private feed counts if the reader's secret was used.
//
// Browsers and robots are listed but not counted.
//
// No client address is stored. A keyed hash distinguishes clients, and is deleted with the client's
// row after [Window]. Start with [Audience] and its Hit and Report.
package audience
