/** A command for the operator: lists the nodes of the database, and whether each of them beats. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { noWords, operate } from '../operator/command.ts'
import { holdingsByNode } from './orders.ts'
import { livingNodes } from './table.ts'

/** Long enough for four beats of a node that is well. */
const LOOK_MS = 1_000

await operate({
  usage: 'usage: node bin/chapar.mjs nodes\n',
  read: noWords,
  run: ({ db }) => list(db),
})

async function list(db: Database): Promise<void> {
  const before = new Map((await livingNodes(db)).map((row) => [row.incarnation, row.beats]))
  await pause(LOOK_MS)
  const nodes = await livingNodes(db)
  const holdings = await holdingsByNode(db)
  const lines = nodes.map((row) => {
    const { accounts = 0, pins = 0, figures } = holdings.get(row.incarnation) ?? {}
    return [
      `${row.incarnation}`,
      row.name,
      row.isToDrain ? 'draining' : row.state,
      before.get(row.incarnation) === row.beats ? 'silent' : 'beats',
      row.isLocked ? 'connected' : 'not connected',
      row.version,
      row.schema,
      row.address ?? '-',
      row.startedAt.toISOString(),
      `${accounts}`,
      `${pins}`,
      figures ? `${figures.held}` : '-',
      figures ? `${figures.parked}` : '-',
      figures ? `${figures.lagMs} ms` : '-',
      figures ? `${figures.memoryMb} MB` : '-',
    ]
  })
  const titles = [
    'NODE',
    'NAME',
    'STATE',
    'BEAT',
    'DATABASE',
    'VERSION',
    'SCHEMA',
    'ADDRESS',
    'STARTED',
    'ACCOUNTS',
    'PINS',
    'POLLS',
    'PARKED',
    'LAG',
    'MEMORY',
  ]
  process.stdout.write(lines.length > 0 ? tableOf([titles, ...lines]) : 'No node is running.\n')
}

function tableOf(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, place) =>
    Math.max(...lines.map((line) => line[place]?.length ?? 0)),
  )
  const texts = lines.map((line) => line.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  '))
  return texts.map((text) => `${text.trimEnd()}\n`).join('')
}
