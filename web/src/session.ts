/**
 * The session: a one-time link becomes a secret that each call shows in a header.
 *
 * The secret belongs to the tab. A cookie would go to programs of other users on other ports, since
 * cookies know hosts alone.
 */

/** Who is logged in, as the daemon says. */
export interface Session {
  name: string;
  role: string;
  version: string;
}

/** Why there is no session. */
export type NoSession = "none" | "used" | "ended" | "unreachable";

/** Where the tab keeps its session, so that a reload finds it. */
const KEPT_AS = "quietcore.session";

/** Roles from the weakest to the strongest; each may do what those before it may. */
const ROLES = ["viewer", "operator", "engineer", "admin"];

/** Returns true if the session's role is `needed` or a stronger one. */
export function allows(session: Session, needed: string): boolean {
  return ROLES.indexOf(session.role) >= ROLES.indexOf(needed);
}

/** Returns true if the address has the token of a one-time link. */
export function hasToken(): boolean {
  return location.hash.startsWith("#link=");
}

/**
 * Takes the token of a one-time link out of the address bar, so that it stays in no history, and
 * returns it; null if the address has none.
 */
export function takeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("link");
  if (token !== null) {
    history.replaceState(null, "", location.pathname);
  }
  return token;
}

/** Returns the headers by which the daemon knows the session; none without one. */
export function credentials(): Record<string, string> {
  const secret = sessionStorage.getItem(KEPT_AS);
  return secret === null ? {} : { authorization: `Bearer ${secret}` };
}

/**
 * Exchanges a token for a session, or finds the one that the tab has already: a link that was used
 * before does no harm to whoever used it.
 */
export async function begin(token: string | null): Promise<Session | NoSession> {
  let why: NoSession = "none";
  try {
    if (token !== null) {
      const headers = { "content-type": "text/plain" };
      const answer = await fetch("/session", { method: "POST", headers, body: token });
      if (answer.ok) {
        const { session } = (await answer.json()) as { session: string };
        sessionStorage.setItem(KEPT_AS, session);
      } else {
        why = answer.status === 401 ? "used" : "unreachable";
      }
    }
    const answer = await fetch("/session", { headers: credentials() });
    if (answer.ok) {
      return (await answer.json()) as Session;
    }
    if (answer.status !== 401) {
      return "unreachable";
    }
    sessionStorage.removeItem(KEPT_AS);
    return why;
  } catch {
    return "unreachable";
  }
}

/** Ends the session at the daemon; what it answers changes nothing for the page. */
export async function end(): Promise<void> {
  await fetch("/session", { method: "DELETE", headers: credentials() }).catch(() => undefined);
  sessionStorage.removeItem(KEPT_AS);
}
