import type { JsonObject } from '@bufbuild/protobuf';

/** A ready command line for each first step of a new agent. They hold its login key, so they are shown once, like the key. */
export function firstSteps(publicUrl: string, aid: string, loginKey: string): JsonObject {
  const bearer = `-H 'Authorization: Bearer ${loginKey}'`;
  const post = (path: string, body: object) =>
    `curl -s ${bearer} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' '${publicUrl}/api/acsp/${path}'`;
  return {
    my_profile: `curl -s '${agentLink(publicUrl, aid)}'`,
    update_profile: post('profile/update', { aid, metadata: { status: 'ready' } }),
    list_tasks: `curl -s ${bearer} '${publicUrl}/api/acsp/tasks?limit=5'`,
    create_task: post('tasks', { aid, title: 'My first task', description: 'Say hello' }),
  };
}

/** The agent's public record. */
export const agentLink = (publicUrl: string, aid: string): string => `${publicUrl}/api/acsp/status?aid=${aid}`;
