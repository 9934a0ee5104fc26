/** A command for the operator: takes away what no version uses any more, once the nodes of earlier versions have ended. */
import { noteChange } from '../audit/log.ts'
import { contract, migrate } from '../database/migrate.ts'
import { byOperator, type OperatorTools, operate } from '../operator/command.ts'
import { concerning } from '../process/fatal-errors.ts'

const WAIT_SECONDS = 60

/** The seconds to wait; undefined if the words were not understood. */
function secondsIn([verb, option, value = `${WAIT_SECONDS}`, ...more]: readonly string[]) {
  if (verb !== '--contract' || more.length > 0) return undefined
  if (option === undefined) return 0
  return option === '--wait' && /^\d{1,6}$/.test(value) ? Number(value) : undefined
}

await operate({
  usage: 'usage: node bin/chapar.mjs migrate --contract [--wait [SECONDS]]\n',
  read: secondsIn,
  run: contractWithin,
})

async function contractWithin({ url, db }: OperatorTools, seconds: number): Promise<void> {
  const migrations: string[] = []
  const waiting = await contract({
    run: (heldBack) => concerning('DATABASE_URL', migrate(url, heldBack)),
    waitMs: 1_000 * seconds,
    done(migration) {
      migrations.push(migration)
      process.stdout.write(`${migration} is done.\n`)
    },
  })
  if (migrations.length > 0) {
    const note = () => noteChange(db, { after: { migrations } })
    await byOperator('service.schema_contracted', note)
  }
  for (const { migration, nodes } of waiting) {
    process.stderr.write(
      `chapar: ${migration} waits: it takes away what these nodes use: ${nodes.join(', ')}\n`,
    )
  }
  if (waiting.length > 0) process.exitCode = 1
  else if (migrations.length === 0) process.stdout.write('Nothing is left to do.\n')
}
