/** What the person who started the service reads first. */
import type { Config } from './config.ts'

const howToSignIn: Record<Config['otpSender']['kind'], string> = {
  console: 'the code is printed here',
  smtp: 'the code comes by e-mail',
  http: 'the code comes by SMS',
}

export function welcome({ baseUrls, panelUrls: [panel], otpSender, sandbox }: Config): string {
  const [home, abroad] = baseUrls
  const lines = [
    '',
    'Chapar is running.',
    `  Panel          ${panel}/dashboard`,
    `  API            ${home}`,
    ...(abroad === home ? [] : [`  International  ${abroad}`]),
    `  Bot API        ${home}/bot<API_KEY>/<METHOD>`,
    `  Documentation  ${home}/docs`,
    ...(sandbox ? [`  Sandbox        ${home}/sandbox/people`] : []),
    '',
    `Sign in (${howToSignIn[otpSender.kind]}):`,
    `  curl ${home}/auth/sendOtp -H 'content-type: application/json' -d '{"phone":"+14155550123"}'`,
    `  curl ${home}/auth/login -H 'content-type: application/json' -d '{"phone":"+14155550123","otp":"…"}'`,
    '',
  ]
  return lines.join('\n')
}
