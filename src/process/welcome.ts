/** What the person who started the service reads first. */
import type { Config } from '../config/config.ts'

const howToSignIn: Record<Config['otpSender']['kind'], string> = {
  console: 'the code is printed here',
  smtp: 'the code comes by e-mail',
  http: 'the code comes by SMS',
}

export function welcome(config: Config): string {
  const { baseUrls, panelUrls, otpSender, sandbox, host } = config
  const [panel] = panelUrls
  const [home, abroad] = baseUrls
  const lines = [
    '',
    'Chapar is running.',
    `  Panel          ${panel}/dashboard`,
    `  API            ${home}`,
    ...(abroad === home ? [] : [`  International  ${abroad}`]),
    `  Bot API        ${home}/bot<API_KEY>/<METHOD>`,
    `  Documentation  ${home}/docs`,
    ...(isLoopback(host) ? ['  Reachable from this machine only; HOST=0.0.0.0 opens it'] : []),
    ...(sandbox ? [`  Sandbox        ${home}/sandbox/people`] : []),
    '',
    `Sign in (${howToSignIn[otpSender.kind]}):`,
    `  curl ${home}/auth/sendOtp -H 'content-type: application/json' -d '{"phone":"+14155550123"}'`,
    `  curl ${home}/auth/login -H 'content-type: application/json' -d '{"phone":"+14155550123","otp":"…"}'`,
    '',
  ]
  return lines.join('\n')
}

const isLoopback = (host: string) => /^(127\.|::1$|localhost$)/.test(host)
