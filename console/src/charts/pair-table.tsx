import type { Pair } from './types.ts'

/** The pairs as a table for screen readers. */
export function PairTable({ pairs }: { pairs: readonly Pair[] }) {
  const sorted = [...pairs].sort((a, b) => b.messages - a.messages)
  return (
    <div class="chart-hidden">
      <table>
        <caption>Messages by sender and recipient</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">Messages</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ from, to, messages }) => (
            <tr key={`${from}\n${to}`}>
              <td>{from}</td>
              <td>{to}</td>
              <td>{messages}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
