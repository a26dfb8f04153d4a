// Yardstick for the engine's speed: the rules of docs/RULES.md (single game), hand-written in C with bitboards,
// played uniformly at random on one core. Prints decisions per second. gcc -O3 -march=native limit.c -o limit
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef uint64_t u64; typedef uint8_t u8;
enum {STOP=8,P2,DIR_,PLUS,TAKI, SUPER=52,KING,P3,BRK,CC, DRAW=60,CLOSE,PASS,SAY};
enum {PLAY,RUN,FPLUS,FKING,RESP,LAST,OVER};
#define B(i) (1ULL<<(i))
#define CCB (15ULL<<56)
#define WILD (255ULL<<52)
static u64 COL[4],SYM[14]; static u8 FULL[116];
typedef struct { u64 rng, one[10], two[10]; u64 cc; u8 ccn[10],size[10],deck[116]; int deck_len,n,turn,actor,dir,color,symbol,top,phase,pending,open,canclose,skip,plus3,winner,steps; } S;
static inline u64 rnd(S*s,u64 n){u64 x=s->rng;x^=x<<13;x^=x>>7;x^=x<<17;s->rng=x;return ((x>>32)*n)>>32;}
static void shuffle(S*s){for(int i=s->deck_len-1;i>0;i--){int j=rnd(s,i+1);u8 t=s->deck[i];s->deck[i]=s->deck[j];s->deck[j]=t;}}
static inline void add(S*s,int p,int t){s->size[p]++; if(t==CC){s->ccn[p]++;s->one[p]|=CCB;} else {u64 b=B(t); s->two[p]|=s->one[p]&b; s->one[p]|=b;}}
static inline void rem(S*s,int p,int t){s->size[p]--; if(t==CC){if(--s->ccn[p]==0)s->one[p]&=~CCB;} else {u64 b=B(t); if(s->two[p]&b)s->two[p]&=~b; else s->one[p]&=~b;}}
static void refill(S*s){int c[57];for(int t=0;t<57;t++)c[t]=t==CC?4:2;for(int p=0;p<s->n;p++){c[CC]-=s->ccn[p];for(int t=0;t<56;t++)c[t]-=((s->one[p]>>t)&1)+((s->two[p]>>t)&1);}c[s->top]--;int k=0;for(int t=0;t<57;t++)for(int i=0;i<c[t];i++)s->deck[k++]=t;s->deck_len=k;shuffle(s);}
static void draw(S*s,int p,int k){while(k--){if(!s->deck_len){refill(s);if(!s->deck_len)return;}add(s,p,s->deck[--s->deck_len]);}}
static void reset(S*s,int n,u64 seed){memset(s,0,sizeof*s);s->rng=seed;s->n=n;memcpy(s->deck,FULL,116);s->deck_len=116;shuffle(s);for(int p=0;p<n;p++)draw(s,p,8);
 while(s->deck[s->deck_len-1]>=52){int j=rnd(s,s->deck_len);u8 t=s->deck[s->deck_len-1];s->deck[s->deck_len-1]=s->deck[j];s->deck[j]=t;}
 int t=s->deck[--s->deck_len];s->top=t;s->color=t/13;s->symbol=t%13;s->dir=1;s->plus3=-1;s->winner=-1;}
static inline int nxt(S*s,int p){int q=p+s->dir;return q>=s->n?0:q<0?s->n-1:q;}
static inline u64 legal(S*s){int p=s->actor;u64 h=s->one[p];switch(s->phase){
 case PLAY: if(s->pending)return (h&(SYM[P2]|B(KING)))|B(DRAW);
 case FPLUS:{u64 m=h&(COL[s->color]|SYM[s->symbol]|WILD);if(!(m&~B(BRK)))m|=B(DRAW);return m;}
 case RUN: return (h&(COL[s->color]|B(SUPER)))|B(PASS)|(s->canclose?B(CLOSE):0);
 case FKING: return h|B(PASS);
 case RESP: return (h&B(BRK))|B(PASS)|(p==nxt(s,s->turn)?h&B(KING):0);
 case LAST: return B(SAY)|B(PASS);} return 0;}
static inline void advance(S*s){int q=nxt(s,s->turn);if(s->skip)q=nxt(s,q);s->skip=0;s->turn=s->actor=q;s->phase=PLAY;s->canclose=0;}
static void poll(S*s,int q){while(q!=s->turn){u64 c=s->one[q]&(B(BRK)|(q==nxt(s,s->turn)?B(KING):0));if(c){s->actor=q;s->phase=RESP;return;}q=nxt(s,q);}
 q=nxt(s,s->turn);s->plus3=-1;while(q!=s->turn){draw(s,q,3);q=nxt(s,q);}advance(s);}
static inline void after(S*s){if(s->plus3>=0)poll(s,nxt(s,s->turn));else advance(s);}
static inline void win(S*s,int p){s->winner=p;s->phase=OVER;}
static inline void endturn(S*s,int drew){int p=s->turn;s->canclose=0;if(!drew){if(!s->size[p]){win(s,p);return;}if(s->size[p]==1){s->phase=LAST;return;}}after(s);}
static inline void act(S*s,int k){if(k==STOP)s->skip=1;else if(k==P2)s->pending+=2;else if(k==DIR_)s->dir=-s->dir;}
static void close_(S*s){s->open=0;s->canclose=0;if(s->symbol==PLUS){s->phase=FPLUS;return;}act(s,s->symbol);endturn(s,0);}
static void step(S*s,int a){s->steps++;int p=s->actor,ph=s->phase;
 if(a<60){int t=a<56?a:CC;rem(s,p,t);
  if(ph==RESP){ if(t==BRK){s->plus3=-1;if(!s->size[p]){win(s,p);return;}if(s->size[p]==1){s->phase=LAST;return;}draw(s,s->turn,3);advance(s);return;} s->plus3=-1;s->turn=p;}
  if(t==BRK){s->open=0;draw(s,p,3);endturn(s,1);return;}
  s->top=t;
  if((ph==RUN||s->open)&&(t==SUPER||(t<52&&t/13==s->color))){s->symbol=t==SUPER?TAKI:t%13;s->canclose=1;if(!s->size[p])close_(s);else s->phase=RUN;return;}
  s->open=0;
  if(t<52){s->color=t/13;int k=s->symbol=t%13;if(k==TAKI){s->open=1;s->canclose=0;if(!s->size[p])endturn(s,0);else s->phase=RUN;}else if(k==PLUS)s->phase=FPLUS;else{act(s,k);endturn(s,0);}return;}
  if(t==SUPER){s->symbol=TAKI;s->open=1;s->canclose=0;if(!s->size[p])endturn(s,0);else s->phase=RUN;return;}
  s->symbol=13;
  if(t==KING){s->pending=0;if(!s->size[p])endturn(s,0);else s->phase=FKING;return;}
  if(t==P3){s->plus3=p;endturn(s,0);return;}
  s->color=a-56;endturn(s,0);return;}
 if(a==DRAW){int k=s->pending?s->pending:1;s->pending=0;draw(s,p,k);endturn(s,1);return;}
 if(a==CLOSE){close_(s);return;}
 if(ph==LAST){if(a==PASS)draw(s,p,4);if(p==s->turn)after(s);else{draw(s,s->turn,3);advance(s);}return;}
 if(ph==RESP){poll(s,nxt(s,p));return;}
 endturn(s,0);}
int main(int argc,char**argv){int n=argc>1?atoi(argv[1]):2;long games=argc>2?atol(argv[2]):200000;
 for(int c=0;c<4;c++)for(int k=0;k<13;k++){COL[c]|=B(c*13+k);SYM[k]|=B(c*13+k);} int i=0;for(int t=0;t<57;t++)for(int k=0;k<(t==CC?4:2);k++)FULL[i++]=t;
 S s;u64 r=88172645463325252ULL;long tot=0,w0=0,caps=0;struct timespec a,b;clock_gettime(CLOCK_MONOTONIC,&a);
 for(long g=0;g<games;g++){reset(&s,n,(g+1)*0x9E3779B97F4A7C15ULL);while(s.phase!=OVER&&s.steps<2000){u64 m=legal(&s);int c=__builtin_popcountll(m);r^=r<<13;r^=r>>7;r^=r<<17;int k=((r>>32)*c)>>32;while(k--)m&=m-1;step(&s,__builtin_ctzll(m));tot++;}w0+=s.winner==0;caps+=s.winner<0;}
 clock_gettime(CLOCK_MONOTONIC,&b);double dt=(b.tv_sec-a.tv_sec)+1e-9*(b.tv_nsec-a.tv_nsec);
 printf("{\"players\":%d,\"games\":%ld,\"decisions\":%ld,\"per_s\":%.0f,\"mean_decisions\":%.2f,\"seat0_wins\":%.4f,\"capped\":%ld,\"bytes\":%zu}\n",n,games,tot,tot/dt,(double)tot/games,(double)w0/games,caps,sizeof s);}
