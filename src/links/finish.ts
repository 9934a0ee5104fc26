/** The end of a link: the credential with its secrets and its log, created or revived in one commit. */
import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { CredentialSupervisor } from '../../actors/credential/supervisor.ts'
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type { Owned } from '../../actors/ports/ports.ts'
import { OPEN_STATES } from '../../machines/link/events.ts'
import { ended } from '../../machines/link/setup.ts'
import { failed, LinkRefused, OwnershipLost, RequestFailed } from '../../machines/model/failure.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { LinkReason } from '../../machines/model/reason.ts'
import { heldUser } from '../accounts/users.ts'
import { authorBefore, type Details, noteChange } from '../audit/log.ts'
import { nativeIndex, sealIdentity, sealSecrets } from '../credentials/identity.ts'
import type { Ownership } from '../credentials/ownership.ts'
import type { Database, Queryable } from '../database/database.ts'
import { Credential, LinkSession } from '../database/entities.ts'
import type { Bus } from '../nodes/bus.ts'
import { keepLeft, type OwnSession, sealLeft, sealOwn } from '../nodes/sign-outs.ts'
import type { Vault } from '../security/vault.ts'

/** The range of the first update id of a new log (as in the reference). */
const FIRST_UPDATE = [2_000_001, 1_000_000_000] as const

export interface Finished {
  readonly credentialId: number
  /** The account was linked before: its actor lives. */
  readonly relinked: boolean
  /** An owner with another epoch has lost the credential. */
  readonly epoch: number
  /** The number of its link. */
  readonly link: number
}

export type Held = (credentialId: number) => Owned | undefined

interface Ending {
  readonly sessionId: string
  /** The number of this start of the process. */
  readonly node: number | null
  /** The incarnation of the node that runs the account from now on: no other may claim it meanwhile. */
  readonly owner: number | null
  readonly account: AccountIdentity
  readonly secrets: Json
  /** Whether a link on that platform is a session of its own, which stays signed in until it is signed out. */
  leavesSession?(platform: string): boolean
}

interface Sealed {
  readonly native: string
  readonly account: Buffer
  readonly secrets: Buffer
}

/** `held` is what this node owns: an account of another node is taken over with its new secrets. */
export async function finishLink(
  db: Database,
  vault: Vault,
  ending: Ending,
  held: Held = () => undefined,
): Promise<Finished> {
  for (let tries = 1; ; tries++) {
    try {
      return await finishOnce(db, vault, ending, held)
    } catch (cause) {
      if (cause instanceof Unlinked) await leaveNew(db, vault, ending, cause.credentialId)
      // Another flow was faster with the same account: this one links it again.
      const isChanged = cause instanceof SecretsChanged || isLinkedMeanwhile(cause)
      if (!isChanged || tries === TRIES) throw cause
    }
  }
}

const TRIES = 5

/** The session of the link before has stored new secrets since they were read. */
class SecretsChanged extends Error {
  override readonly name = 'SecretsChanged'
}

/** A refusal that leaves the new session without an account; `credentialId`: the one that it was meant for. */
class Unlinked extends LinkRefused {
  readonly credentialId: number

  constructor(reason: LinkReason, description: string, credentialId: number) {
    super(reason, description)
    this.credentialId = credentialId
  }
}

const isLinkedMeanwhile = (cause: unknown): boolean =>
  cause instanceof Error && 'constraint' in cause && cause.constraint === 'credential_account'

async function finishOnce(
  db: Database,
  vault: Vault,
  ending: Ending,
  held: Held,
): Promise<Finished> {
  const { sessionId, owner, account, secrets } = ending
  const session = await db.records((em) => em.findOne(LinkSession, { id: sessionId }))
  if (!session) throw failed('not_found')
  const { userId, platform, relinks } = session
  const stored = await storedBefore(db, session)
  if (stored) return stored
  const nativeId = nativeIndex(vault, account.native)
  const linked = { userId, platform, nativeId, deletingAt: null }
  const known = (await db.records((em) => em.findOne(Credential, linked, { fields: ['id'] })))?.id
  if (typeof relinks === 'number' && relinks !== known) throw await refusal(db, relinks)
  const credentialId = known ?? (await nextCredentialId(db))
  // Sealed before the transaction: it may need a connection of its own.
  const sealed = {
    native: nativeId,
    account: await sealIdentity(vault, userId, credentialId, account),
    secrets: await sealSecrets(vault, credentialId, secrets),
  }
  const isLeft = known !== undefined && ending.leavesSession?.(platform) === true
  // The network may have given the same session again.
  const isOther = (before: Json) => !isDeepStrictEqual(before, secrets)
  const replaced = isLeft ? await sealOwn(db, vault, known, isOther) : undefined
  let standing = { epoch: 0, link: 0 }
  await db.transaction(async (tx) => {
    // To store it later would never work, and its session waits to be signed out.
    if (!(await heldUser(tx, userId))) throw new RequestFailed(ended)
    if (known === undefined) await insert(tx, credentialId, { userId, platform, owner }, sealed)
    else {
      const taking = { credentialId, owner, held: held(credentialId)?.epoch, replaced }
      standing = await revive(tx, taking, sealed)
    }
    const linking = await tx.query(
      `update link_session set state = 'linked', credential_id = $2, stored = null
       where id = $1 and not signing_out and (state = any ($3) or node is not distinct from $4)
       returning 1`,
      [sessionId, credentialId, OPEN_STATES, ending.node],
    )
    // Somebody else has ended it, and signs its session out.
    if (linking.length === 0) throw new RequestFailed(ended)
    await noteAnswer(tx, {
      target: ['link', sessionId],
      after: { credential_id: credentialId },
      userId,
    })
  })
  return { credentialId, relinked: known !== undefined, ...standing }
}

/**
 * Whoever gave the last answer has linked the account, also where it was stored only after their request had failed. What
 * a device did, or another request began, is not theirs.
 */
async function noteAnswer(tx: Queryable, details: Details): Promise<void> {
  const author = authorBefore()
  if (author?.action === 'link.answered') await noteChange(tx, details, author)
}

/** The link is stored, but the answer of its commit was lost: its session may be open already. */
async function storedBefore(
  db: Database,
  {
    state,
    credentialId,
  }: { readonly state: string; readonly credentialId?: number | null | undefined },
): Promise<Finished | undefined> {
  if (state !== 'linked' || typeof credentialId !== 'number') return undefined
  const [row] = await db.query<{ epoch: number; link: number }>(
    'select epoch, links as link from credential where id = $1 and deleting_at is null',
    [credentialId],
  )
  if (!row) throw deleted(credentialId)
  return { credentialId, relinked: true, ...row }
}

async function refusal(db: Database, relinks: number): Promise<Unlinked> {
  const isThere = (await nativeOf(db, relinks)) !== undefined
  return isThere ? otherAccount(relinks) : deleted(relinks)
}

/** Throws for any other account than this one, by its native id. */
export async function onlyFor(
  db: Database,
  vault: Pick<Vault, 'derive'>,
  relinks: number,
): Promise<(native: string) => void> {
  const meant = await nativeOf(db, relinks)
  if (meant === undefined) throw deleted(relinks)
  return (native) => {
    if (nativeIndex(vault, native) !== meant) throw otherAccount(relinks)
  }
}

async function nativeOf(db: Database, credentialId: number): Promise<string | undefined> {
  const live = { id: credentialId, deletingAt: null }
  return (await db.records((em) => em.findOne(Credential, live, { fields: ['nativeId'] })))
    ?.nativeId
}

const otherAccount = (credentialId: number) =>
  new Unlinked(
    'other_account',
    'this is another account than the one to be linked again',
    credentialId,
  )

const deleted = (credentialId: number) =>
  new Unlinked(
    'credential_deleted',
    'the credential to be linked again was deleted; start again',
    credentialId,
  )

async function nextCredentialId(db: Database): Promise<number> {
  const [row] = await db.query<{ id: number }>(`select nextval('credential_id_seq') as id`)
  if (!row) throw new Error('the sequence gave no number')
  return row.id
}

async function insert(
  tx: Queryable,
  credentialId: number,
  of: { readonly userId: number; readonly platform: string; readonly owner: number | null },
  { native, account, secrets }: Sealed,
): Promise<void> {
  await tx.query(
    `insert into credential (id, user_id, platform, native_id, account_sealed, secrets)
     values ($1, $2, $3, $4, $5, $6)`,
    [credentialId, of.userId, of.platform, native, account, secrets],
  )
  await tx.query(
    'insert into credential_log (credential_id, next_update_id, owner) values ($1, $2, $3)',
    [credentialId, randomInt(...FIRST_UPDATE), of.owner],
  )
}

interface Taking {
  readonly credentialId: number
  readonly owner: number | null
  /** The epoch under which this node runs the account already. */
  readonly held: number | undefined
  /** The session of the link before, if it stays signed in. */
  readonly replaced: OwnSession | undefined
}

/** The log and its checkpoint stay; only the secrets are new, and an earlier owner cannot overwrite them. */
async function revive(
  tx: Queryable,
  { credentialId, owner, held, replaced }: Taking,
  { account, secrets }: Sealed,
): Promise<{ epoch: number; link: number }> {
  if (replaced) await keepReplaced(tx, credentialId, replaced)
  const [revived] = await tx.query<{ epoch: number; link: number }>(
    `with taken as (
       update credential_log set epoch = epoch + 1, owner = $5
        where credential_id = $1 and epoch is distinct from $4 returning epoch
     )
     update credential set epoch = coalesce((select epoch from taken), epoch),
            linked_epoch = coalesce((select epoch from taken), epoch), account = null, account_sealed = $2, secrets = $3, state = 'connecting', reason = null,
            machine_state = 'queued', action = 'none', links = links + 1
      where id = $1 and deleting_at is null returning epoch, links as link`,
    [credentialId, account, secrets, held ?? null, owner],
  )
  if (!revived) throw deleted(credentialId)
  return revived
}

/** Locks the rows in the order of a claim. */
async function keepReplaced(
  tx: Queryable,
  credentialId: number,
  { was, left }: OwnSession,
): Promise<void> {
  const [log] = await tx.query<{ owner: number | null }>(
    'select owner from credential_log where credential_id = $1 for no key update',
    [credentialId],
  )
  const [row] = await tx.query<{ secrets: Buffer | null }>(
    'select secrets from credential where id = $1 for no key update',
    [credentialId],
  )
  if (!row?.secrets?.equals(was)) throw new SecretsChanged()
  await tx.query(
    `with old as (select id, user_id, platform, links from credential where id = $1)
     ${keepLeft('$2', '$3', '$4')}`,
    [credentialId, left.id, left.secrets, log?.owner ?? null],
  )
}

/** The network has signed in a session that nothing is linked with. */
async function leaveNew(
  db: Database,
  vault: Vault,
  ending: Ending,
  credentialId: number,
): Promise<void> {
  const { sessionId, secrets, leavesSession } = ending
  const session = await db.records((em) => em.findOne(LinkSession, { id: sessionId }))
  if (!session || !leavesSession?.(session.platform)) return
  const left = await sealLeft(vault, session.userId, Buffer.from(JSON.stringify(secrets)))
  await db.query(
    `with old as (select id, user_id, platform, -1 as links from credential where id = $1)
     ${keepLeft('$2', '$3', '$4')}`,
    [credentialId, left.id, left.secrets, null],
  )
}

/** Runs the account of a link flow that has ended well, by the epoch under which it was stored. */
export const onLinked =
  (supervisor: CredentialSupervisor, ownership: Ownership, bus: Pick<Bus, 'tell'> | undefined) =>
  async ({ credentialId, relinked, epoch, link }: Finished): Promise<void> => {
    const held = supervisor.factsOf(credentialId)
    const wasElsewhere = held?.epoch !== epoch
    if (relinked && wasElsewhere) bus?.tell('relinked', { credentialId, epoch })
    if (held && held.epoch < epoch) ownership.lost([held])
    const actor = relinked ? supervisor.peek(credentialId) : undefined
    if (actor?.isActive) return void (await actor.ask({ type: 'credential.relinked', link }))
    await supervisor.start(credentialId).catch((cause) => {
      if (!(cause instanceof OwnershipLost)) throw cause
      // It is linked all the same: this node drains, or was declared gone, and another one runs it.
      bus?.tell('released', null)
    })
  }
