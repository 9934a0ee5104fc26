/** Request and answer of one webhook attempt, and the choice of which attempts of the key are kept. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import type { Delivery, ExchangeChoice, WebhookExchanges } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Choice } from '../../ui/form.tsx'
import { Failed, Loading, Wrong } from '../../ui/states.tsx'

export const choices = ['none', 'failed', 'all'] as const

export function Exchanges({ delivery }: { readonly delivery: Delivery }) {
  const t = useT()
  const { api_key_id, update_id, attempt, at } = delivery
  const path = `/api_keys/${api_key_id}/webhook/exchanges`
  const queryKey = ['exchanges', api_key_id, update_id, attempt]
  const kept = useQuery({
    queryKey,
    queryFn: ({ signal }) => call<WebhookExchanges>('GET', path, { query: { update_id }, signal }),
  })
  const queries = useQueryClient()
  const choosing = useMutation({
    mutationFn: (keep: string) => call<ExchangeChoice>('PUT', path, { body: { keep } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['exchanges', api_key_id] }),
  })
  if (kept.isError && !kept.data) {
    return <Failed cause={kept.error} retry={() => kept.refetch()} />
  }
  if (!kept.data) return <Loading />
  // A replayed update has attempts of the same number: the time tells them apart.
  const found = kept.data.items.find((one) => one.attempt === attempt && one.at === at)
  return (
    <div className="stack tight inset">
      {found ? (
        <>
          <Side title={t('exchange.request')} side={found.request} />
          {found.response ? (
            <Side title={t('exchange.response')} side={found.response} />
          ) : (
            <p className="quiet small">{t('exchange.noResponse')}</p>
          )}
        </>
      ) : (
        <p className="quiet small">{t('exchange.none')}</p>
      )}
      <Choice
        label={t('exchange.keep')}
        value={choosing.isPending ? choosing.variables : kept.data.keep}
        options={choices.map((one) => [one, t(`exchange.keep.${one}`)])}
        onChange={(keep) => choosing.mutate(keep)}
      />
      <Wrong cause={choosing.error} />
    </div>
  )
}

interface SideProps {
  readonly title: string
  readonly side: WebhookExchanges['items'][number]['request']
}

/** Headers and body of one direction; JSON is laid out to be read. */
function Side({ title, side: { headers, body, is_cut } }: SideProps) {
  const head = headers.map(([name, value]) => `${name}: ${value}`).join('\n')
  return (
    <Text title={title} body={body} isCut={is_cut}>
      <pre className="scroll" tabIndex={0}>
        {head}
      </pre>
    </Text>
  )
}

interface TextProps {
  readonly title: string
  readonly body: string
  readonly isCut: boolean
  /** Stands before the text. */
  readonly children?: ReactNode
}

export function Text({ title, body, isCut, children }: TextProps) {
  const t = useT()
  const text = laidOut(body)
  return (
    <section>
      <h3 className="small">{title}</h3>
      {children}
      {text !== '' && (
        <div className="copied">
          <pre className="scroll" tabIndex={0}>
            {text}
          </pre>
          <CopyButton text={body} />
        </div>
      )}
      {isCut && <p className="quiet small">{t('exchange.cut')}</p>}
    </section>
  )
}

function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
