/** Parameters and answer of one call, and the call as a line for a terminal. */
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { baseUrl } from '../../api/session.ts'
import type { ApiRequest, CallExchange } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Failed, Loading } from '../../ui/states.tsx'
import { Text } from './exchanges.tsx'

interface CallProps {
  readonly keyId: number
  readonly request: ApiRequest
}

export function Call({ keyId, request: { request_id, method } }: CallProps) {
  const t = useT()
  const kept = useQuery({
    queryKey: ['call', keyId, request_id],
    queryFn: ({ signal }) =>
      call<CallExchange>('GET', `/api_keys/${keyId}/requests/${request_id}/exchange`, { signal }),
  })
  if (kept.isError && !kept.data) {
    return <Failed cause={kept.error} retry={() => kept.refetch()} />
  }
  if (!kept.data) return <Loading />
  const { exchange } = kept.data
  return (
    <div className="stack tight inset">
      {exchange ? (
        <>
          <Text
            title={t('call.parameters')}
            body={exchange.parameters.text}
            isCut={exchange.parameters.is_cut}
          />
          {exchange.answer ? (
            <Text
              title={t('exchange.response')}
              body={exchange.answer.text}
              isCut={exchange.answer.is_cut}
            />
          ) : (
            <p className="quiet small">{t('exchange.noResponse')}</p>
          )}
        </>
      ) : (
        <p className="quiet small">{t('call.none')}</p>
      )}
      {isBotMethod(method) && (
        <CopyButton
          text={curlOf(method, exchange?.parameters.is_cut ? undefined : exchange?.parameters.text)}
          label={t('requests.curl')}
        />
      )}
    </div>
  )
}

/** For a request that is no method the log has only the pattern of its path. */
const isBotMethod = (method: string) => /^\w+$/.test(method)

/** The service keeps no key, so its place is left to the user; likewise the parameters where they were not kept. */
export function curlOf(method: string, parameters = '{}', key = '<KEY>'): string {
  // The only character that ends a quoted word of the shell.
  const body = parameters.replaceAll("'", String.raw`'\''`)
  return `curl '${baseUrl()}/bot${key}/${method}' -H 'content-type: application/json' -d '${body}'`
}
