/** The node of an account: pinned, or placed automatically. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/call.ts'
import { userQuery } from '../../api/queries.ts'
import type { Credential, Node, Pin } from '../../api/types.ts'
import { latinDigits } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading, useReason, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

const LOOK_MS = 5_000
const SHOWN = 200

const pinsQuery = (credentialId?: number) =>
  queryOptions({
    queryKey: ['pins', credentialId],
    queryFn: ({ signal }) =>
      call<readonly Pin[]>('GET', '/operators/nodes/pins', {
        query: { limit: SHOWN, credential_id: credentialId },
        signal,
      }),
    refetchInterval: LOOK_MS,
  })

const isolated = (name: string) => `\u2068${name}\u2069`

/** No node has an empty name. */
const ANYWHERE = ''

interface Move {
  readonly credential_id: number
  readonly node: string | null
}

function useMove() {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Move) => call<Move>('POST', '/operators/nodes/move', { body }),
    async onSuccess({ credential_id, node }) {
      const id = `${credential_id}`
      toast(
        node === null ? t('nodes.freed', { id }) : t('nodes.moved', { id, name: isolated(node) }),
      )
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['pins'] }),
        queries.invalidateQueries({ queryKey: ['nodes'] }),
      ])
    },
  })
}

function Where(props: {
  readonly names: readonly string[]
  readonly value: string
  onChange(value: string): void
}) {
  const t = useT()
  const options = [
    [ANYWHERE, t('nodes.move.anywhere')] as const,
    ...props.names.map((name) => [name, name] as const),
  ]
  return (
    <Choice
      label={t('nodes.move.to')}
      value={props.value}
      options={options}
      onChange={props.onChange}
    />
  )
}

/** Moves any account by its number, and lists those that are kept somewhere. */
export function MoveAccount({ names }: { readonly names: readonly string[] }) {
  const t = useT()
  const [account, setAccount] = useState('')
  const [node, setNode] = useState(ANYWHERE)
  const moving = useMove()
  const pins = useQuery(pinsQuery())
  const id = Number(latinDigits(account.trim()))
  const by = {
    isPending: moving.isPending,
    mutate: () => moving.mutate({ credential_id: id, node: node === ANYWHERE ? null : node }),
  }
  const isReady = Number.isSafeInteger(id) && id > 0
  return (
    <Card title={t('nodes.move.title')}>
      <p className="quiet small">{t('nodes.move.text')}</p>
      <Form by={by} isReady={isReady}>
        <Field
          label={t('nodes.move.account')}
          value={account}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => setAccount(event.target.value)}
        />
        <Where names={names} value={node} onChange={setNode} />
        <Wrong cause={moving.error} />
        <div className="actions">
          <Button type="submit" kind="first" busy={moving.isPending} disabled={!isReady}>
            {t('nodes.move.action')}
          </Button>
        </div>
      </Form>
      {pins.isError && !pins.data && <Failed cause={pins.error} retry={() => pins.refetch()} />}
      {pins.data && pins.data.length > 0 && (
        <ol className="records">
          {pins.data.map((pin) => (
            <PinRow key={pin.credential_id} pin={pin} />
          ))}
        </ol>
      )}
    </Card>
  )
}

function PinRow({ pin: { credential_id, node } }: { readonly pin: Pin }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const moving = useMove()
  const id = `${credential_id}`
  return (
    <li className="record">
      <span className="grow">{t('nodes.pinned', { id, name: isolated(node) })}</span>
      <Button
        size="slim"
        busy={moving.isPending}
        aria-label={t('nodes.freeOne', { id })}
        onClick={() =>
          moving.mutate(
            { credential_id, node: null },
            { onError: (cause) => toast(reason(cause), 'bad') },
          )
        }
      >
        {t('nodes.free')}
      </Button>
    </li>
  )
}

/** On the page of an account: its owner, and where it is kept. Others than operators have nothing to choose there. */
export function NodeOfAccount({ credential }: { readonly credential: Credential }) {
  const isOperator = useQuery(userQuery).data?.operator === true
  return isOperator ? <NodeOfAccountCard credential={credential} /> : null
}

function NodeOfAccountCard({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const id = credential.credential_id
  const pins = useQuery(pinsQuery(id))
  const nodes = useQuery({
    queryKey: ['nodes', 'living'],
    queryFn: ({ signal }) => call<readonly Node[]>('GET', '/operators/nodes', { signal }),
    refetchInterval: LOOK_MS,
  })
  const moving = useMove()
  const pin = pins.data?.[0]?.node
  const names = [...new Set(nodes.data?.map(({ name }) => name)), ...(pin ? [pin] : [])]
  const failed = [pins, nodes].find(({ isError, data }) => isError && !data)
  return (
    <Card title={t('nodes.of')} aside={<Link to="/dashboard/nodes">{t('nodes.of.all')}</Link>}>
      <dl className="facts">
        <dt>{t('nodes.of.owner')}</dt>
        <dd>
          <bdi>{credential.node ?? t('nodes.of.nobody')}</bdi>
        </dd>
        <dt>{t('nodes.of.pin')}</dt>
        <dd>{pin ? <bdi>{pin}</bdi> : '–'}</dd>
      </dl>
      {failed ? (
        <Failed cause={failed.error} retry={() => failed.refetch()} />
      ) : pins.data && nodes.data ? (
        <Where
          names={[...new Set(names)]}
          value={pin ?? ANYWHERE}
          onChange={(name) =>
            moving.mutate({ credential_id: id, node: name === ANYWHERE ? null : name })
          }
        />
      ) : (
        <Loading lines={2} />
      )}
      <Wrong cause={moving.error} />
    </Card>
  )
}
