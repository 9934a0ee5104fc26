/** What sessions hear of faults and of their end while something else happens at the same moment. */
import t, { type Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import type { HubNews } from '../../src/sandbox/delivery/hub.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { run } from './contract/recorder.ts'
import { ownedSandbox } from './sandbox/owned.ts'
import { stage } from './sandbox/stage.ts'

/** Holds the answer to the next statement that matches until `release`; `held` resolves once it is carried out. */
function holdAnswer(db: Database, is: RegExp) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  const { query } = db
  let isNext = true
  const holding = async <Row extends object>(...asked: Parameters<Database['query']>) => {
    const [statement] = asked
    const isHeld = isNext && is.test(typeof statement === 'string' ? statement : statement.name)
    if (isHeld) isNext = false
    const rows = await query<Row>(...asked)
    if (isHeld) {
      hold()
      await released
    }
    return rows
  }
  Object.assign(db, { query: holding })
  return { held, release }
}

const isSilent = (opened: ReturnType<typeof run>) =>
  opened.session.probe(AbortSignal.timeout(300)).then(
    () => false,
    () => true,
  )

/** A session to which this happens while it is being opened. */
async function openedAmid(t: Test, fault: 'revoke' | 'silence') {
  const { online, sandbox, db } = await stage(t)
  const { person, session, store } = await online()
  await session.stop()
  const { held, release } = holdAnswer(db, /^sandbox_open$/)
  const next = run(sandbox.platform, store)
  t.teardown(() => next.stop())
  await held
  await sandbox.faults.put(person.id, { fault })
  release()
  return next
}

t.test('a session that is just being opened hears of its end', async (t) => {
  const next = await openedAmid(t, 'revoke')
  t.match(await next.reported('revoked'), ['session_revoked'])
})

t.test('a session that is just being opened hears of its faults', async (t) => {
  const next = await openedAmid(t, 'silence')
  await next.reported('opened')
  await until(() => isSilent(next))
})

t.test('of two changes of faults at once the later one holds', async (t) => {
  const { online, sandbox, db } = await stage(t)
  const { person, session } = await online()
  const { held, release } = holdAnswer(db, /update sandbox_person\s+set faults/)
  const putting = sandbox.faults.put(person.id, { fault: 'silence' })
  await held
  await sandbox.faults.clear(person.id, 'silence')
  release()
  await putting
  t.same((await sandbox.people.get(person.id)).faults.isSilent, undefined)
  t.equal(await isSilent(session), false)
})

t.test('news of another node that come late end no session that began later', async (t) => {
  const { online, open, link, sandbox, db, media, owner } = await stage(t)
  const { person, session } = await online()
  const told: HubNews[] = []
  const announce = (news: HubNews) => void told.push(news)
  const other = ownedSandbox({ db, logger: quietLogger, media, announce }, owner)
  t.teardown(() => other.close())
  await other.faults.put(person.id, { fault: 'revoke' })
  const later = await open(await link(person))
  for (const news of told) sandbox.hub.heard(news)
  t.match(await session.reported('revoked'), ['session_revoked'])
  t.equal(await isSilent(later), false)
})

t.test('what was missed while a node heard nothing is looked for', async (t) => {
  const { online, sandbox, db, media, owner } = await stage(t)
  const [ended, silent] = [await online(), await online()]
  const other = ownedSandbox({ db, logger: quietLogger, media }, owner)
  t.teardown(() => other.close())
  await other.faults.put(ended.person.id, { fault: 'ban' })
  await other.faults.put(silent.person.id, { fault: 'silence' })
  sandbox.lookAround()
  t.match(await ended.session.reported('invalid'), ['account_banned'])
  await until(() => isSilent(silent.session))
})
