/** Mistakes that the design of several nodes names: each must turn a suite red. */

/** A piece of source, found once, in the place of which another one stands. */
export interface NamedMutant {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
  /** The cheapest test that shows it. */
  readonly test: string
}

export const clusterMutants: readonly NamedMutant[] = [
  {
    name: 'no for share',
    file: 'src/credentials/fence.ts',
    from: `order by c.id for \${lock} of c)`,
    to: 'order by c.id)',
    test: 'test/credentials/fences.test.ts',
  },
  {
    name: 'book not dropped',
    file: 'src/identities/book.ts',
    from: 'if (known?.epoch === epoch) return known',
    to: 'if (known) return known',
    test: 'test/identities/book.test.ts',
  },
  {
    name: 'lease check off',
    file: 'actors/node/lease.ts',
    from: 'if (!this.#isOver) await Promise.race([this.#lease.valid(), this.#over.promise])',
    to: '',
    test: 'test/actors/node/lease.test.ts',
  },
  {
    name: 'declare without compare-and-set',
    file: 'src/nodes/table.ts',
    from: 'where id = $1 and beats = $2 and ended_at is null returning id`',
    to: 'where id = $1 and $2::bigint >= 0 and ended_at is null returning id`',
    test: 'test/nodes/table.test.ts',
  },
  {
    name: 'seconds instead of beats',
    file: 'actors/node/observer.ts',
    from: 'this.#beats - (watched?.changedAtBeat ?? this.#beats)',
    to: '(performance.now() - (watched?.changedAt ?? 0)) / 250',
    test: 'test/actors/node/observer.test.ts',
  },
  {
    name: 'edge repeats blind sends',
    file: 'src/bot-api/execute.ts',
    from: 'if (isRepeated) assertRepeatable(wanted.kind, platform)',
    to: '',
    test: 'test/bot-api/repeated.test.ts',
  },
  {
    name: 'temporary folder by name',
    file: 'src/media/temporary.ts',
    from: 'this.#folder = join(place, randomUUID())',
    to: "this.#folder = join(place, 'node')",
    test: 'test/media/temporary.test.ts',
  },
  {
    name: 'takeover taken for a new link',
    file: 'src/credentials/store.ts',
    from: 'c.linked_epoch > o.epoch or',
    to: 'c.epoch > o.epoch or',
    test: 'test/credentials/fences.test.ts',
  },
  {
    name: 'new link taken for a takeover',
    file: 'src/links/finish.ts',
    from: 'linked_epoch = coalesce((select epoch from taken), epoch),',
    to: '',
    test: 'test/credentials/fences.test.ts',
  },
  {
    name: 'a node that is cut off taken for one that has ended',
    file: 'src/nodes/table.ts',
    from: "(await knock(address)) === 'listens'",
    to: 'false',
    test: 'test/nodes/table.test.ts',
  },
  {
    name: 'a commit that failed taken for one that was made',
    file: 'src/updates/log.ts',
    from: 'if (!isIdentityConflict(cause)) return commitFailed(cause)',
    to: `if (!isIdentityConflict(cause)) {
          const firstId = this.#log(credentialId).tail.next
          return { fenced: false, firstId, drafts: translated.drafts }
        }`,
    test: 'test/cluster/linearizable.test.ts',
  },
  {
    name: 'each call with an Idempotency-Key taken for the first',
    file: 'src/bot-api/idempotency.ts',
    from: 'const since = await this.#begin(apiKeyId, key, begun.id)',
    to: "const since = (await this.#begin(apiKeyId, key, begun.id)) ?? ''",
    test: 'test/cluster/linearizable.test.ts',
  },
]

/** Throws where the text is not there exactly once: the mistake would be another one than it says. */
export function applied({ name, file, from, to }: NamedMutant, source: string): string {
  const pieces = source.split(from)
  if (pieces.length !== 2) {
    throw new Error(`${name}: ${file} has its text ${pieces.length - 1} times, not once`)
  }
  return pieces.join(to)
}
